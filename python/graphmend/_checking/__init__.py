"""Whether the mended program is the same program, and whether its graphs are whole."""
