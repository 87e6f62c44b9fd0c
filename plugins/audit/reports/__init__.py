"""Reports on audit journals: the reports (`catalogue`), reading a journal (`pipeline`), making pages (`render`)."""
