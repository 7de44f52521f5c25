"""The libraries that the algorithms need, of the interpreter that runs them."""
import importlib
import sys

from .report import Failure

HOW = {
    "numpy": "pip install numpy (Debian: python3-numpy)",
    "xgboost": "pip install xgboost-cpu, or xgboost with CUDA (Debian: python3-xgboost)",
    "tensorflow": "pip install tensorflow-cpu, or tensorflow with CUDA",
}


def need(*names):
    """Imports the libraries; a Failure names those that are missing."""
    found, missing = [], []
    for name in names:
        try:
            found.append(importlib.import_module(name))
        except ImportError as error:
            missing.append("%s is missing (%s): %s" % (name, error, HOW[name]))
    if missing:
        raise Failure("The algorithm needs libraries that %s does not have. %s." % (sys.executable, ". ".join(missing)))
    return found[0] if len(found) == 1 else found
