"""book.py and the workflows: each word and setting that is written anywhere is one it knows."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import book  # noqa: E402
from _ext.web import repository  # noqa: E402

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
STEPS = [
    pytest.param(step, id=f"{path.stem}-{job}")
    for path in WORKFLOWS
    for job, about in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items()
    for step in about["steps"]
    if "run" in step
]


def test_make_has_the_words_of_the_program():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    listed = re.search(r"^WORDS := ((?:.*\\\n)*.*)$", makefile, re.M)[1].replace("\\\n", " ")
    assert set(listed.split()) == set(book.WORDS)


def test_every_word_is_explained_and_its_settings_have_defaults():
    for name, (function, _) in book.WORDS.items():
        assert function.__doc__, name
        for setting in inspect.signature(function).parameters.values():
            assert isinstance(setting.default, str), (name, setting)


def test_the_commands_in_the_text_are_known():
    found = []
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        found += re.findall(
            r"(?m)(?:^ {4}|`)(?:make|python book\.py) ([\w-]+)((?: \w+=\S*)*)", text
        )
    assert len(found) > 20
    for name, settings in found:
        function, _ = book.WORDS[name]
        book.settings_of(function, settings.replace("`", "").split())


def test_a_word_alone_is_the_first_setting():
    function, _ = book.WORDS["run"]
    assert book.settings_of(function, ["perceptron"]) == {"chapter": "perceptron"}
    assert book.settings_of(function, ["CHAPTER=pca"]) == {"chapter": "pca"}
    with pytest.raises(SystemExit, match="CHAPTER="):
        book.settings_of(function, ["PORT=1"])
    with pytest.raises(SystemExit, match="no settings"):
        book.settings_of(book.WORDS["setup"][0], ["perceptron"])


def test_make_passes_on_what_is_written(tmp_path):
    shown = subprocess.run(
        ["make", "-n", "-f", str(ROOT / "Makefile"), "test", "GATE=site in a browser", "PYTHON=py"],
        cwd=tmp_path,
        env={name: it for name, it in os.environ.items() if not name.startswith("MAKE")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout == "py book.py test GATE=site\\ in\\ a\\ browser\n"


def programs(folder, *names):
    """Put programs on a path that write down how they are called; ``gh`` finds no issue."""
    for name in names:
        script = folder / name
        script.write_text(f'#!/bin/sh\nprintf "%s\\n" {name} "$@" >> "{folder}/calls"\n')
        script.chmod(0o755)
    return folder / "calls"


@pytest.mark.parametrize("step", STEPS)
def test_a_step_of_a_workflow_runs_in_a_clean_folder(step, tmp_path):
    calls = programs(tmp_path, "python", "gh", "git")
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "a.whl").touch()
    filled = {"GATE": "lint,format", "WORD": "pdf", "GITHUB_REF_NAME": "v0.2.0"}
    filled |= {"GITHUB_SHA": "1a2b", "GITHUB_REPOSITORY": "owner/name", "TOKEN": "secret"}
    given = {k: v for k, v in step.get("env", {}).items() if "${{" not in v}
    paths = {"PATH": f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin"}
    subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env=filled | given | paths,
        check=True,
    )
    program, *arguments = calls.read_text().splitlines()
    if program == "python":
        assert arguments[0] == "book.py"
        function, _ = book.WORDS[arguments[1]]
        book.settings_of(function, arguments[2:])
    elif program == "git":
        assert arguments[-1] == repository.BRANCH  # what Binder and Colab are led to
    else:
        assert arguments[0] in ("issue", "release")


def test_gates_of_the_workflow_are_all_gates():
    sys.path.insert(0, str(ROOT / "tools"))
    import gates

    verify = (ROOT / ".github" / "workflows" / "verify.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(verify)["jobs"]
    parts = ",".join([*jobs["gates"]["strategy"]["matrix"]["gate"], "library", "notebooks"])
    names = {name for stage in gates.STAGES for name, *_ in stage}
    for part in parts.split(","):
        assert any(part in name for name in names), part
    for name in names:
        assert any(part in name for part in parts.split(",")), name


def test_the_workflows_are_well_formed_and_safe():
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    subprocess.run([*check, "vendor.github-workflows", *WORKFLOWS], check=True)
    forms = (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")
    subprocess.run([*check, "vendor.github-issue-forms", *forms], check=True)
    audit = [Path(sys.executable).with_name("zizmor"), "--offline", "--quiet", ROOT / ".github"]
    subprocess.run([*audit, "--persona=pedantic"], check=True)


def test_every_action_is_pinned_by_digest_and_named_by_its_release():
    for path in WORKFLOWS:
        for used in re.findall(r"uses: (.*)", path.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", used), used


def test_the_library_is_tested_on_every_python_it_supports():
    verify = yaml.safe_load((ROOT / ".github" / "workflows" / "verify.yml").read_text("utf-8"))
    tried = verify["jobs"]["library"]["strategy"]["matrix"]["python"]
    (_, oldest), (_, newest) = book.OLDEST, book.NEWEST
    assert tried == [f"3.{minor}" for minor in range(oldest, newest + 1)]


# Without a browser -------------------------------------------------------------------------------


def test_a_browser_is_looked_for_then_downloaded_then_a_package(monkeypatch):
    from _ext.web import browser

    tried = []
    monkeypatch.setattr(browser, "find", lambda: None)
    monkeypatch.setattr(browser, "drivers_own", lambda: "/own/chrome")
    monkeypatch.setattr(browser, "ran", lambda *command, **_: tried.append(command))
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    monkeypatch.setattr(browser.shutil, "which", lambda name: f"/usr/bin/{name}")
    for works, steps in (
        ("/own/chrome", ["chromium"]),
        ("/usr/bin/chromium", ["chromium", "update", "chromium-headless-shell", "chromium"]),
    ):
        monkeypatch.setattr(browser, "starts", lambda path, works=works: path == works)
        tried.clear()
        assert browser.get() == works
        assert [command[-1] for command in tried] == steps
    monkeypatch.setattr(browser, "starts", lambda path: False)
    with pytest.raises(LookupError, match="apt-get install chromium"):
        browser.get()


def test_a_browser_that_does_not_start_is_none(tmp_path):
    from _ext.web import browser

    fake = tmp_path / "chromium"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    assert not browser.starts(None)
    assert not browser.starts(str(fake))


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)])
def test_without_a_browser_the_last_line_says_what_was_not_run(monkeypatch, capsys, ci, code):
    sys.path.insert(0, str(ROOT / "tools"))
    import gates

    def none():
        raise LookupError("there is none")

    monkeypatch.setattr(gates.browser, "get", none)
    monkeypatch.setattr(gates, "run", lambda gate: (gate[0], True, 0.0))
    monkeypatch.setenv("GATE", "lint,browser")
    monkeypatch.setenv("CI", ci)
    assert gates.main() == code
    said = capsys.readouterr().out.splitlines()
    assert said[-2:] == ["1 passed, 0 failed", "site in a browser: not run, because there is none"]
