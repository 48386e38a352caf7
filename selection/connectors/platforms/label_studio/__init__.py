"""Label Studio, by its REST API."""

from .connector import CONNECTOR
