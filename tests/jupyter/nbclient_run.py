"""Runs a notebook through nbclient and writes it with its outputs: nbclient_run.py KERNEL IN OUT"""

import os
import sys

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

kernel, source, target = sys.argv[1:]
nb = nbformat.read(source, as_version=4)
here = {"metadata": {"path": os.path.dirname(os.path.abspath(source))}}
client = NotebookClient(nb, kernel_name=kernel, timeout=300, record_timing=False, resources=here)
status = 0
try:
    client.execute()
except CellExecutionError as err:
    print(err, file=sys.stderr)
    status = 1
nbformat.write(nb, target)
sys.exit(status)
