"""The pages docs/adding_a_{pass,kernel,target}.md, followed: their files written and their diffs applied in a copy of the
repository, and built and tested there with the commands that the pages give."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^    (bazel test .+)$", re.MULTILINE)
PAGES = ("adding_a_pass", "adding_a_kernel", "adding_a_target")


def page_text(page):
    """A page's source."""
    return (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")


def blocks(page):
    """(language, path or "", text) of each code block."""
    return BLOCK.findall(page_text(page))


def follow(page, folder):
    """Does in `folder` what the page says; returns the files that it names."""
    touched = []
    for language, path, text in blocks(page):
        if path:
            target = folder / path
            assert not target.exists(), f"{path} is there already"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            if language == "bash":
                target.chmod(0o755)
            touched.append(path)
        elif language == "diff":
            done = subprocess.run(["git", "apply", "--recount"], cwd=folder, input=text, capture_output=True, text=True)
            assert done.returncode == 0, f"{page}: {done.stderr}\n{text}"
            touched += re.findall(r"^\+\+\+ b/(\S+)$", text, re.MULTILINE)
    return touched


def copy_repository(folder):
    """All files that git knows, as they are now."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "--null", "-cf", folder / "files.tar", "-T", "-"], cwd=ROOT, input=listed, check=True)
    subprocess.run(["tar", "-xf", "files.tar"], cwd=folder, check=True)
    (folder / "files.tar").unlink()
    user = ROOT / ".bazelrc.user"  # The disk cache: most of the build comes from there.
    if user.exists():
        (folder / ".bazelrc.user").write_bytes(user.read_bytes())


@pytest.mark.parametrize("page", PAGES)
def test_the_page_applies(page, tmp_path):
    copy_repository(tmp_path)
    touched = follow(page, tmp_path)
    assert len(touched) >= 5
    assert COMMAND.findall(page_text(page)), "a page gives the command that tests it"
    # What the text calls by its place is what the blocks write.
    for path in re.findall(r"^## \d+\. .*`([\w/.]+)`$", page_text(page), re.MULTILINE):
        assert path in touched, path


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_the_page_builds(page, tmp_path):
    folder = tmp_path / "ferrule"
    folder.mkdir()
    copy_repository(folder)
    follow(page, folder)
    startup = ["bazel", f"--output_base={tmp_path / 'output'}"]
    try:
        for command in COMMAND.findall(page_text(page)):
            arguments = command.split()[1:]
            done = subprocess.run([*startup, *arguments], cwd=folder, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    finally:
        subprocess.run([*startup, "shutdown"], cwd=folder, capture_output=True)
        subprocess.run(["chmod", "-R", "u+w", str(tmp_path)])  # Bazel's outputs are read-only; pytest removes them.
