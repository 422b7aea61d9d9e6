"""Training of Quire's own models: harvest, mix, mine, train, distil, export, evaluate."""
