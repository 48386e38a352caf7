"""Faults thrown at a whole stack while a crowd answers: ``python -m tests.faults``, `make faults`.

play      one database: the stack, the crowd, the faults, what came of it
stack     the parts of the project, each on links of its own that can be cut
services  Redis, PostgreSQL, and the disk that can be filled
links     a connection between two parts: open, refused, hanging, half open
kinds     what can go wrong, and how it is made good again
traffic   the crowd, and its own record of what it was told
laws      what has to hold after each fault
"""
