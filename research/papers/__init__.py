"""The papers' experiments, played again, and what they claimed, judged by the numbers.

sar, adaptive_top_k, lil_rand_lucb   what each paper played, claimed and drew
cells    one algorithm on one instance, as a cell
rows     what its plays come to: a row of the table
claims   the rule for a verdict
report   the verdicts as tables
plots    pictures of the table
studies  all of a paper together
command  python -m research reproduce
"""
