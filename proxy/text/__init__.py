"""Files that people write, and messages to people about them: places, problems, nearest words."""
