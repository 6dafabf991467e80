"""What the tests across folders share: paths of what was built, the oracle's values, the demo's program."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

# What a test counts as compiled must not depend on an earlier run.
os.environ["FERRULE_PROGRAM_CACHE"] = "off"

ROOT = pathlib.Path(__file__).resolve().parents[1]
for folder in ("frontend/examples", *(f"tests/{name}" for name in ("e2e", "error", "golden", "onnx", "ops", "oracle", "performance"))):
    sys.path.insert(0, str(ROOT / folder))


@pytest.fixture(scope="session")
def ferrule_run():
    """run(*arguments, check=True) calls build/bin/ferrule-run and returns the finished process with its text."""
    binary = ROOT / "build" / "bin" / "ferrule-run"
    assert binary.exists(), f"{binary} is missing: ./dev build makes it"

    def run(*arguments, check=True, **options):
        command = [str(binary), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, **options)
        if check:
            assert done.returncode == 0, f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    return run


class Oracle:
    """tests/oracle/digits.npz: torch's values for the demo's network (make_digits.py lists them)."""

    def __init__(self):
        self._file = np.load(ROOT / "tests" / "oracle" / "digits.npz")
        images = self._file["images"].astype(np.float32) / 16.0
        # [steps, 64, 1, 8, 8] and [steps, 64]: batch i trains step i.
        self.images = images[:, :, None]
        self.labels = self._file["labels"].astype(np.int32)

    def __getitem__(self, key):
        return self._file[key]

    def group(self, prefix):
        """{name: array} of the values ``prefix/name``, the losses apart."""
        keys = [key for key in self._file.files if key.startswith(prefix + "/") and not key.endswith("/losses")]
        return {key[len(prefix) + 1 :]: self._file[key] for key in keys}


@pytest.fixture(scope="session")
def oracle():
    return Oracle()


@pytest.fixture(scope="session")
def make_digits(oracle):
    """make() returns (net, optimizer) of the demo with the oracle's initial weights."""
    import digits

    import ferrule.optimizer as optim

    def make(optimizer="sgd"):
        net, _ = digits.make_net()
        net.load_state_dict(oracle.group("initial"))
        parameters = list(net.parameters())
        return net, optim.SGD(parameters, lr=0.05, momentum=0.9) if optimizer == "sgd" else optim.Adam(parameters, lr=0.001)

    return make


@pytest.fixture(scope="session")
def digits_artifact(make_digits, tmp_path_factory):
    """The path of the demo's artifact with the oracle's initial weights, for both CPU levels."""
    import digits

    path = tmp_path_factory.mktemp("digits") / "digits.fer"
    digits.compile_digits(*make_digits()).save(path)
    return path
