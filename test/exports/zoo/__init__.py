"""Small architectures with random weights, each a function with the decorator `architecture` in one of these files."""
