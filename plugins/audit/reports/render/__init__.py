"""From the rows of reports to files for people: one HTML page, and a CSV file for each report."""
