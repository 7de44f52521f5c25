"""The folder of the digits trainer. Importing this module makes its package `trainer` importable."""
import os
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DIGITS = os.path.join(REPOSITORY, "scenarios", "trainers", "digits")
DATA = os.path.join(DIGITS, "data", "digits.csv.gz")

if DIGITS not in sys.path:
    sys.path.insert(0, DIGITS)
