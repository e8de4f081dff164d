"""Long runs with targets of their own; plain pytest does not collect them."""
