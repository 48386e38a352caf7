"""The settings of a run: declarations, their effects and validation, drafts."""
