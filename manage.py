#!/usr/bin/env python
"""Django's command line, in a checkout."""

from crowdselect.__main__ import main

if __name__ == "__main__":
    main()
