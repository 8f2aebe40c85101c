"""Searching what one person said: tokens, the two legs, and their fusion into one ranking."""
