"""What happens when a mended program is compiled and run."""
