"""Whether the algorithms keep their promises, and at what price: measured on made-up pools.

cases    the pools that are played on
pools    more of them, to compare rules on
crowds   pools of recorded crowds
late     a crowd that takes its time
measure  one algorithm on one case, run after run
rows     what the runs come to: a row of the table
cells    an algorithm on a case, as a cell
report   the table in Markdown
plots    pictures of the table
suite    every algorithm on every case
chart    answers needed against the size of the pool
delays   what many assignments out at once cost
habits   what people do today, as rules
practice what that costs, and how often it is off, beside ours
compared ours, kl-lucb and what people do today, in one table
command  python -m research validate
"""
