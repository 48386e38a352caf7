"""Files of workers, questions and answers: recognition, preview, import and its undoing."""
