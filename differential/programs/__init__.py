"""Programs written for PyFlink. Penstock runs a copy in which the package named in the imports is another."""
