"""make live: a cell of the page is edited and run, on this machine alone; in the browser."""

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pytest
from contents import ROOT
from looking import AXE
from playwright.sync_api import expect

PERCEPTRON = "chapters/classification/perceptron.html"


@pytest.fixture(scope="module")
def live():
    """Run ``make live`` on a free port; give its address."""
    sys.path.insert(0, str(ROOT))
    from _ext.build.live import free_port

    port = free_port()
    command = [sys.executable, "_ext/build/live.py", "--port", str(port)]
    server = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    for line in server.stdout:
        if line.startswith("Open "):
            break
    assert server.poll() is None
    yield f"http://localhost:{port}"
    server.terminate()
    server.wait(20)


def published(claim):
    """Return the lines of plain text that a claim displayed when the chapter was last run."""
    notebook = (ROOT / PERCEPTRON).with_suffix(".ipynb").read_text(encoding="utf-8")
    for cell in json.loads(notebook)["cells"]:
        if f'claim("{claim}")' in "".join(cell["source"]):
            (shown,) = cell["outputs"]
            return [line.strip() for line in shown["data"]["text/plain"]]
    return []


def test_a_claim_is_edited_and_run_on_the_page(live, new_tab):
    tab = new_tab()
    hosts, foreign, errors = set(), [], []

    def note(request):
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https", "ws", "wss"):
            hosts.add(parts.netloc)
            if parts.hostname not in ("localhost", "127.0.0.1"):
                foreign.append(request.url)

    tab.on("request", note)
    tab.on("websocket", lambda socket: hosts.add(urlsplit(socket.url).netloc))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto(f"{live}/{PERCEPTRON}")
    tab.wait_for_load_state("networkidle")
    assert hosts == {urlsplit(live).netloc}  # no kernel and no Thebe before the click
    assert tab.evaluate("typeof window.thebe") == "undefined"
    claim = "perceptron-threshold-example"
    tab.get_by_role("button", name="Edit and run the code of this page").click()
    tab.locator(".live-bar", has_text="Ready").wait_for()
    cell = tab.locator(f"#claim-{claim}")
    cell.locator(".code-fold summary").click()
    cell.locator(".live-run").first.click()
    cell.locator(".code-fold summary").click()
    cell.locator("xpath=self::*[contains(@class, 'live-ran')]").wait_for()
    card = cell.locator(".verdict-card")
    expect(card.locator(".verdict")).to_have_text(["holds", "contrast"])
    assert [line.split()[0] for line in published(claim)] == [claim, "holds", "contrast"]
    assert card.locator(".katex").count() == 5
    assert tab.locator(".code-fold[open], .solution[open]").count() == 0  # the reading view stays

    tab.locator(f"#claim-{claim} summary").click()
    cell.locator(".CodeMirror").evaluate(
        "e => e.CodeMirror.setValue(e.CodeMirror.getValue().replace('[1], -500', '[1], -700'))"
    )
    cell.locator(".live-run").first.click()
    tab.locator(".live-bar", has_text="ended in an error").wait_for()
    expect(cell.locator(".verdict-card.fails .verdict")).to_have_text(["holds: fails", "contrast"])
    said = cell.locator(".verdict-card.fails .verdict-text").first
    expect(said).to_contain_text("200 of 5001 cases fail, the first at [")
    expect(said).to_contain_text("fires = False, thousandths > 500 = True")
    assert said.evaluate("e => e.scrollWidth <= e.parentElement.clientWidth")
    assert not foreign
    assert len(hosts) == 2
    assert not errors


def test_the_editor_is_reached_and_run_by_keyboard(live, new_tab):
    tab = new_tab()
    tab.goto(f"{live}/{PERCEPTRON}")
    tab.get_by_role("button", name="Edit and run the code of this page").focus()
    tab.keyboard.press("Enter")
    tab.locator(".live-bar", has_text="Ready").wait_for()
    tab.get_by_role("textbox", name="Code of cell 2", exact=True).focus()
    tab.keyboard.press("Control+End")
    tab.keyboard.type("\nprint(6 * 7)")
    tab.keyboard.press("Shift+Enter")
    tab.locator(".live-bar", has_text="Cell 2 ran").wait_for()
    expect(tab.locator(".cell").nth(1).locator(".cell_output")).to_contain_text("42")


def started(tab, address):
    """Open a page and make it live."""
    tab.goto(address)
    tab.get_by_role("button", name="Edit and run the code of this page").click()
    tab.locator(".live-bar", has_text="Ready").wait_for()
    return tab


def run_cell(tab, number, code):
    """Put code into a cell of the page, run it, and return where its output stands."""
    cell = tab.locator(".cell").nth(number - 1)
    cell.locator("details").evaluate_all("folds => folds.forEach((fold) => { fold.open = true; })")
    cell.locator(".CodeMirror").evaluate("(e, code) => e.CodeMirror.setValue(code)", code)
    cell.locator(".live-run").first.click()
    return cell.locator(".cell_output")


def test_each_page_has_a_session_that_restarts_and_runs_whole(live, new_tab):
    one = started(new_tab(color_scheme="dark"), f"{live}/{PERCEPTRON}")
    two = started(new_tab(), f"{live}/{PERCEPTRON}")
    expect(run_cell(one, 1, "only_here = 1\nprint('set', only_here)")).to_contain_text("set 1")
    expect(run_cell(two, 1, "print(only_here)")).to_contain_text("NameError")
    one.get_by_role("button", name="Restart").click()
    one.locator(".live-bar", has_text="Restarted").wait_for()
    expect(run_cell(one, 1, "print(only_here)")).to_contain_text("NameError")
    one.evaluate(AXE)
    outputs = (
        "(async () => (await axe.run('.live-ran .cell_output', {runOnly: ['color-contrast']}))"
    )
    faults = ".violations.flatMap((rule) => rule.nodes.map((node) => node.failureSummary)))()"
    assert one.evaluate(outputs + faults) == []

    one.get_by_role("button", name="Put back").click()  # what was written is kept over a reload
    one.reload()
    started(one, f"{live}/{PERCEPTRON}")
    one.get_by_role("button", name="Run all").click()
    one.locator(".live-bar", has_text=re.compile(r"All \d+ cells ran")).wait_for()
    ran = int(re.search(r"All (\d+) cells", one.locator(".live-bar").inner_text())[1])
    own = one.locator(".live-own").count()
    assert own == 5
    assert one.locator(".cell.live-ran").count() == ran > 20
    shown = one.locator("#claim-perceptron-mistake-bound .cell_output")
    expect(shown).to_contain_text("holds")
    ink, ground = shown.evaluate(
        "(e) => [e.querySelector('.verdict-text'), document.body].map((p) => getComputedStyle(p))"
        ".map((style, i) => i ? style.backgroundColor : style.color)"
    )
    assert min(map(int, re.findall(r"\d+", ink)[:3])) > 180
    assert max(map(int, re.findall(r"\d+", ground)[:3])) < 60


def test_a_cell_of_ones_own_is_run_kept_over_a_reload_and_put_back(live, new_tab):
    tab = started(new_tab(), f"{live}/{PERCEPTRON}")
    own = tab.locator(".live-own").first
    editor = own.locator(".CodeMirror")
    editor.evaluate("e => e.CodeMirror.setValue('print(6 * 7)')")
    own.get_by_role("button", name=re.compile("^Run cell")).click()
    expect(own.locator(".cell_output")).to_contain_text("42", timeout=120_000)
    tab.reload()
    started(tab, f"{live}/{PERCEPTRON}")
    assert editor.evaluate("e => e.CodeMirror.getValue()") == "print(6 * 7)"
    tab.get_by_role("button", name="Put back").click()
    assert "Exercise 14.1: your own cell" in editor.evaluate("e => e.CodeMirror.getValue()")
    assert tab.get_by_role("button", name="Put back").count() == 0


def test_an_answer_is_checked_and_what_was_solved_is_kept_saved_and_cleared(live, new_tab):
    tab = started(
        new_tab(color_scheme="dark", viewport={"width": 390, "height": 900}), f"{live}/{PERCEPTRON}"
    )
    exercise, line = tab.locator("#ex-perceptron-order"), tab.locator(".solved-bar p").last
    own = tab.locator("[data-exercise=ex-perceptron-order]")

    def check(answer):
        own.locator(".CodeMirror").evaluate("(e, code) => e.CodeMirror.setValue(code)", answer)
        own.get_by_role("button", name="Check Exercise 14.2").click()
        return own.locator(".verdict-card")

    expect(check("handed_in = None")).to_contain_text("Hand in X of shape (n, 2)")
    given = "handed_in = [[1, 4], [1, -3], [4, 0]], [1, 1, 1], (0, 1, 2), {}"
    card = check(given.format("(0, 1, 2)"))
    expect(card.locator(".verdict")).to_have_text(["holds"] * 4 + ["holds: fails"])
    expect(card).to_have_class("verdict-card fails")
    expect(tab.locator(".live-bar")).to_contain_text("Not solved yet")
    expect(line).to_be_hidden()
    card = check(given.format("(2, 0, 1)"))
    expect(card.locator(".verdict")).to_have_text(["holds"] * 5)
    expect(card).to_have_class("verdict-card")
    expect(tab.locator(".live-bar")).to_contain_text("Solved.")
    tab.evaluate(AXE)
    parts = ".solved-bar, .exercise, .live-own :is(button, .cell_output)"
    faults = f"(async () => (await axe.run('{parts}'))"
    faults += ".violations.flatMap((rule) => rule.nodes.map((node) => node.failureSummary)))()"
    assert tab.evaluate(faults) == []

    tab.reload()
    expect(tab.locator(".solved-mark")).to_have_text(["✓ solved", "1 of 5 solved"])
    expect(exercise).to_contain_text("✓ solved")
    expect(tab.locator(".page-toc a[href='#exercises']")).to_contain_text("1 of 5 solved")
    tab.goto(f"{live}/chapters/intro.html")
    row = tab.locator(".map-chapter[data-name=perceptron] a")
    expect(row).to_have_text("The perceptron✓ 1 solved")
    with tab.expect_download() as download:
        tab.get_by_role("button", name="Save as a file").click()
    saved = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert list(saved) == ["ex-perceptron-order"]
    assert saved["ex-perceptron-order"]["answer"] == given.format("(2, 0, 1)")
    tab.once("dialog", lambda asked: asked.accept())
    tab.get_by_role("button", name="Clear").click()
    expect(tab.locator(".solved-mark")).to_have_count(0)
    expect(line).to_be_hidden()
    assert tab.evaluate("localStorage.getItem('solved')") == "{}"


def test_without_a_server_the_page_says_what_starts_one(new_tab, address):
    tab = new_tab()
    tab.goto(f"{address}/{PERCEPTRON}")
    said = "make live starts a server on your machine that checks your answers."
    line, kept = tab.locator("#exercises .solved-bar p").all()
    expect(line).to_have_text(said)
    expect(kept).to_be_hidden()


def test_the_kernel_answers_to_nobody_else(live):
    with urllib.request.urlopen(f"{live}/{PERCEPTRON}") as answer:
        page, policy = answer.read().decode(), answer.headers["Content-Security-Policy"]
    base = re.search(r'"baseUrl": "(http://127\.0\.0\.1:\d+)"', page)[1]
    token = re.search(r'"token": "([0-9a-f]{48})"', page)[1]
    assert "connect-src 'self'" in policy
    assert not re.search(r"https?://(?!127\.0\.0\.1|localhost)", policy)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{base}/api/sessions")
    assert refused.value.code == 403
    request = urllib.request.Request(
        f"{base}/api/sessions", headers={"Authorization": f"token {token}", "Origin": live}
    )
    with urllib.request.urlopen(request) as answer:
        assert answer.headers["Access-Control-Allow-Origin"] == live
    other = urllib.request.Request(f"{live}/{PERCEPTRON}", headers={"Host": "example.org"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(other)
    assert refused.value.code == 403
