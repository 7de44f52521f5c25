"""One module for each framework that trains on several machines."""
