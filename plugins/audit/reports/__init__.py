"""Reports on audit journals: what they ask (`catalogue`), how a journal is read, and how their pages are made."""
