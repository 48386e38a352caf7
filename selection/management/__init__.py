"""The ``manage.py`` commands."""
