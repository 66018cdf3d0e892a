# SPDX-License-Identifier: Apache-2.0
"""How a program of this folder is asked, and answers."""

import base64
import json
import sys


def answer(functions):
    """Reads the request, calls the function of its name, writes what that returns."""
    request = json.loads(sys.stdin.readline())
    action = request.pop("action")
    arguments = {name: decode(value) for name, value in request.items()}
    try:
        output = functions[action](**arguments)
    except Exception as error:  # whatever the library throws is its answer
        sys.exit(f"{type(error).__name__}: {error}")
    sys.stdout.buffer.write(output if isinstance(output, bytes) else (output or "").encode())


def decode(value):
    return [base64.b64decode(one) for one in value] if isinstance(value, list) else base64.b64decode(value)
