"""`keepset bench`: what a save costs here, measured beside other savers on the same states."""
