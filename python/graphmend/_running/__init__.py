"""The commands that run a whole program, and what happens inside of it."""
