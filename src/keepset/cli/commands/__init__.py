"""One file a command; each holds a `click.Command` named `command`."""
