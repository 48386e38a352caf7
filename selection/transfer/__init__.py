"""Copy everything from one database into another."""

from .tables import CopiedTable, copy_database
