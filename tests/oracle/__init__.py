"""What CPython says about a source, and what graphmend says: shared by the tests and the corpus harnesses."""
