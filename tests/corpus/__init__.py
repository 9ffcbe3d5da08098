"""Harnesses that prove the front end on a large corpus; each is a command of its own."""
