"""Faults on purpose: kills, flipped bits, full disks, races, broken inputs and hostile names, each many times.

`nox -s faults` runs all of them. A module holds one kind of fault; each returns tallies, and any of them can be made to
fail (tests/test_faults.py shows how).
"""
