"""Fault injection on a whole stack while a crowd answers: ``python -m tests.faults``.

play      one database: the stack, the crowd, the faults, the results
stack     the parts of the project, each on links of its own that can be cut
services  Redis, PostgreSQL, and a disk that can be filled
links     a connection between two parts: open, refused, hanging, half open
kinds     the kinds of fault, and their repair
traffic   the crowd, with a record of the replies it got
laws      invariants to check after each fault
"""
