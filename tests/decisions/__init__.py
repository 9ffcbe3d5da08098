"""Examples of the breaks that are the user's decision: all types, each with its line and the change that is shown."""
