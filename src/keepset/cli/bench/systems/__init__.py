"""The systems that are measured, each in a module with a class `Measured`."""
