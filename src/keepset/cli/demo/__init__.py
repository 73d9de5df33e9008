"""The worked example: a workflow that really runs, is really killed, and really resumes."""
