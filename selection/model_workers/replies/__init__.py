"""Answers in the replies of models, in linear time. The key is never known here."""
