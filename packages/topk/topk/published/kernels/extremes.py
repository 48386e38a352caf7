"""Minimum and maximum in a form that numba's vectoriser recognises."""

from topk.compiled import compiled_extreme

smaller = compiled_extreme("minnum")
larger = compiled_extreme("maxnum")
