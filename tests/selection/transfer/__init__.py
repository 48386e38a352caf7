"""Tests of copying databases."""
