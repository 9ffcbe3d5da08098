"""What is told to people: reports, pages, advice."""
