"""A module or package for each connector, with its instance as CONNECTOR."""
