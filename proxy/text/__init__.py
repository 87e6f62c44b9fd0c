"""Files that people write, and what is said to people about them: places, problems, nearest words."""
