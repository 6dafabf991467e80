"""The programs in README.md are those in frontend/examples, and they run."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def shown_part(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    return re.search(r"(?:#|//) README begins\n(.*?)(?:#|//) README ends", text, re.DOTALL)[1].strip()


@pytest.mark.parametrize(("language", "path"), (("python", "frontend/examples/mlp.py"), ("cpp", "frontend/examples/mlp.cpp")))
def test_readme_shows_the_example(language, path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"```{language}\n{shown_part(path)}\n```" in readme, f"README.md does not show {path} as it is"


def test_python_compiles_and_cpp_trains(tmp_path):
    """mlp.py writes mlp.fer; mlp.cpp trains it to the one class that it is shown."""
    done = subprocess.run([sys.executable, ROOT / "frontend/examples/mlp.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    first, last = map(float, re.search(r"loss (\S+) -> (\S+);", done.stdout).groups())
    assert last < 0.1 * first, done.stdout
    binary = ROOT / "build" / "bin" / "example-mlp"
    done = subprocess.run([binary, "mlp.fer"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    loss, probability = map(float, re.search(r"loss (\S+), probability of class 3: (\S+)", done.stdout).groups())
    assert loss < 0.01 and probability > 0.99, done.stdout


def test_the_links_of_the_documents_lead_somewhere():
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("**/*.md")]:
        text = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            if "://" not in link:
                assert os.path.exists(document.parent / link), f"{document.relative_to(ROOT)} links to {link}"
