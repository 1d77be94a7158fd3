"""make slides: one statement, figure or card a slide, from the page, without a network."""

import subprocess
import sys

from contents import ROOT, SITE
from playwright.sync_api import expect


def test_slides_show_statements_figures_and_verdicts_one_at_a_time(new_tab, address):
    command = [sys.executable, "_ext/pdf/slides.py", "--chapter", "perceptron"]
    subprocess.run(command, cwd=ROOT, check=True)
    page = (SITE / "chapters/classification/perceptron.html").read_text(encoding="utf-8")
    tab, hosts, errors = new_tab(viewport={"width": 1280, "height": 800}), set(), []
    tab.on("request", lambda request: hosts.add(request.url.split("/chapters")[0].split("/_")[0]))
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto(f"{address}/slides/perceptron.html")
    slides = tab.locator(".slides > section")
    expect(slides.first.locator("h1")).to_be_visible()
    assert slides.count() > 30
    assert tab.locator("figure").count() == page.count("<figure")
    assert tab.locator(".solution").count() == 0
    theorem = tab.locator("section:has(.admonition-title:has-text('Theorem 14.2'))")
    expect(theorem).not_to_be_visible()
    for _ in range(slides.count()):
        if theorem.is_visible():
            break
        tab.keyboard.press("ArrowRight")
        tab.wait_for_timeout(120)
    expect(theorem.locator(".katex").first).to_be_visible()
    assert all(host.startswith(address) for host in hosts)
    assert errors == []
