"""Error rates and costs of the algorithms, measured on simulated pools.

cases             the pools
pools             more pools, for the comparison of rules
crowds            pools of recorded crowds
latency           a crowd that takes time to answer
measure           runs of one algorithm on one case
rows, cells       their results; an algorithm on a case, as a cell
report            the table in Markdown
suite             every algorithm on every case
chart             answers against the size of the pool
delays            many open assignments at once
event_simulation  a run with absence, wrong gold and withdrawals; relabelled has its answers
event_table       the table of such runs
forecasts         coverage of forecasts
baselines         common practice, as rules
practice          common practice beside our algorithms
compared          our algorithms, kl-lucb and common practice in one table
command           python -m research validate
"""
