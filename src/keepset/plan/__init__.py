"""Plans: what a save, a load or a pruning does, as pure values that backends execute."""
