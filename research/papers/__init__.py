"""The experiments of the papers, played again, and verdicts on their claims.

sar, adaptive_top_k, lil_rand_lucb  experiments, claims and figures of each paper
cells, rows                         one algorithm on one instance, and its row of the table
claims                              the rule for a verdict
report, plots                       verdicts as tables; figures
studies                             a whole paper
command                             the command python -m research reproduce
"""
