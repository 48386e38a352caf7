"""The published algorithms: one file for each family, the bases they share, their kernels."""
