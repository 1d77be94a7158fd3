"""Weight and steadiness of the pages: bytes over the wire, layout shift, early legibility."""

from pathlib import Path

import pytest
from contents import SITE, entries, pages

LANDING = "chapters/intro.html"
LIMIT = 300_000  # bytes over the wire, all that a page fetches while it is read to its end
SHIFT = 0.02
PHONE = {"width": 412, "height": 823}


def longest():
    """Return the page with most HTML among those of the table of contents."""
    return max(pages(), key=lambda page: (SITE / page).stat().st_size)


SHIFTS = """() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const {value, hadRecentInput} of list.getEntries())
      if (!hadRecentInput) window.shifts.push(value);
  }).observe({type: 'layout-shift', buffered: true});
}"""
READ = """async () => {
  const wait = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 10)));
  for (let y = 0; y < document.documentElement.scrollHeight; y += 1000) {
    window.scrollTo(0, y);
    await wait();
  }
  await Promise.all([...document.images].filter((image) => image.checkVisibility()
    && !image.complete).map((image) => new Promise((done) => {
      image.onload = image.onerror = done;
    })));
  await document.fonts.ready;
}"""


def watched(context, **options):
    """Open a tab whose bytes are counted; return it with its counts by address."""
    tab = context(**options).new_page()
    wire = tab.context.new_cdp_session(tab)
    wire.send("Network.enable")
    wire.send("Network.setCacheDisabled", {"cacheDisabled": True})
    name, size = {}, {}
    wire.on(
        "Network.requestWillBeSent", lambda e: name.update({e["requestId"]: e["request"]["url"]})
    )
    wire.on(
        "Network.loadingFinished",
        lambda e: size.update({name.get(e["requestId"], "?"): e["encodedDataLength"]}),
    )
    return tab, wire, size


#: The mobile line of Lighthouse: 1.6 Mbit/s down, 150 ms.
SLOW = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 1_638_400 / 8,
    "uploadThroughput": 750_000 / 8,
}
FAST = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}


@pytest.mark.parametrize("page", [*pages(), *entries()])
def test_a_page_holds_still_on_a_slow_line_and_weighs_little(context, address, page):
    tab, wire, size = watched(context, viewport=PHONE)
    tab.add_init_script(f"({SHIFTS})()")
    wire.send("Network.emulateNetworkConditions", SLOW)
    for tries in range(3):  # a starved machine may decode a font late, but not every time
        size.clear()
        tab.goto(f"{address}/{page}?{tries}")
        tab.evaluate("document.fonts.ready")
        shift = sum(tab.evaluate("window.shifts"))
        if shift < SHIFT:
            break
    assert shift < SHIFT
    wire.send("Network.emulateNetworkConditions", FAST)
    tab.evaluate(READ)
    tab.wait_for_load_state("networkidle")
    total = sum(size.values())
    heaviest = sorted(((kb, Path(url).name) for url, kb in size.items()), reverse=True)[:8]
    assert total <= LIMIT, (total, heaviest)
    assert any("style-" in url for url in size)


def test_the_fonts_of_the_first_screen_are_fetched_ahead_and_used(context, address):
    tab, _, _ = watched(context, viewport=PHONE)
    warnings = []
    tab.on("console", lambda m: warnings.append(m.text) if m.type == "warning" else None)
    tab.goto(f"{address}/{longest()}")
    ahead = tab.evaluate(
        "() => [...document.querySelectorAll('link[rel=preload][as=font]')].map((l) => l.href)"
    )
    assert any("KaTeX_Main-Regular" in font for font in ahead)
    tab.evaluate("document.fonts.ready")
    loaded = tab.evaluate("() => performance.getEntriesByType('resource').map((r) => r.name)")
    fonts = [url for url in loaded if url.endswith(".woff2")]
    assert len(fonts) == len(set(fonts))
    assert set(ahead) <= set(fonts)


@pytest.mark.parametrize("which", ["landing", "longest"])
def test_text_is_legible_early_on_a_slow_line(context, address, which):
    page = LANDING if which == "landing" else longest()
    tab, wire, _ = watched(context, viewport=PHONE)
    wire.send("Network.emulateNetworkConditions", SLOW)
    wire.send("Emulation.setCPUThrottlingRate", {"rate": 2})
    tab.goto(f"{address}/{page}", wait_until="load")
    painted = tab.wait_for_function(
        "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
    )
    assert painted.json_value() < 3000
    assert tab.locator("h1").first.is_visible()


def test_a_link_to_a_far_section_arrives_there(context, address):
    tab = context(viewport={"width": 1280, "height": 900}).new_page()
    page = longest()
    tab.goto(f"{address}/{page}")
    sections = tab.evaluate(
        "() => [...document.querySelectorAll('article > section > section[id]')].map((s) => s.id)"
    )
    for name in (sections[-1], sections[len(sections) // 2]):
        tab.goto("about:blank")
        tab.goto(f"{address}/{page}#{name}")
        tab.wait_for_function(
            """(name) => {
              const {top} = document.getElementById(name).firstElementChild.getBoundingClientRect();
              const end = document.documentElement.scrollHeight - window.innerHeight;
              return top > 0 && (top < 300 || window.scrollY >= end - 2);
            }""",
            arg=name,
            timeout=5000,
        )
