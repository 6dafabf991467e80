"""Tables of functions that PyTorch has too, as pairs of calls on the same inputs.

make_functions.py runs the calls of torch in float64 and stores values and gradients; tests/e2e/function_oracle_test.py
compares Ferrule's with them. Neither package is imported here.
"""

import numpy as np

# The modules that hold a table, and NAME.npz with what torch computes.
TABLES = {"function_cases": "functions", "loss_cases": "losses", "layer_cases": "layers", "array_cases": "arrays"}


def case_table():
    """An empty table {name: (arrays, call of Ferrule, call of torch)} and the function that adds to it."""
    cases = {}

    def case(name, inputs, ferrule, torch):
        """Adds a case.

        Args:
            inputs: name to array or shape; a shape is drawn from the normal distribution. Gradients are taken with
                respect to the float inputs.
            ferrule: a function of ferrule.functional and the inputs.
            torch: a function of torch, torch.nn.functional and the inputs.
        """
        random = np.random.default_rng(len(cases))
        arrays = {
            key: value if isinstance(value, np.ndarray) else random.standard_normal(value)
            for key, value in inputs.items()
        }
        assert name not in cases, name
        cases[name] = arrays, ferrule, torch

    return cases, case
