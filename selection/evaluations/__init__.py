"""Evaluations of models on a command line: a ``topk.Study`` whose pairs are calls of models."""
