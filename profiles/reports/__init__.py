"""Reports about people: what is counted, what a model says of it and what of that stands, who signs and reads it."""
