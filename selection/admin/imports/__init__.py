"""Pages that import files: upload, columns, preview, commit and undo."""
