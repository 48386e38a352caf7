"""The ``manage.py`` commands of the app."""
