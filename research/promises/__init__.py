"""Whether the algorithms keep their promises, and at what price: measured on made-up pools.

cases    the pools that are played on
measure  one algorithm on one case, run after run
figures  what the runs come to
journal  what is measured already, so that an interrupted measurement goes on
tables   CSV and Markdown
plots    pictures of the tables
chart    answers needed against the size of the pool
late     a crowd that takes its time
delays   what many assignments out at once cost
suite    all of it together, which is what the command calls
"""
