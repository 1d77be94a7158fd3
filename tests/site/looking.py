"""What tests ask of a page in the browser: scripts to run in it, lines to fetch it over."""

from pathlib import Path

AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")

#: Far enough that fonts come after the first words.
DISTANT = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 400_000,
    "uploadThroughput": 400_000,
}
#: The mobile line of Lighthouse: 1.6 Mbit/s down, 150 ms.
SLOW = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 1_638_400 / 8,
    "uploadThroughput": 750_000 / 8,
}
NEAR = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}

SHIFTS = """() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const {value, hadRecentInput} of list.getEntries())
      if (!hadRecentInput) window.shifts.push(value);
  }).observe({type: 'layout-shift', buffered: true});
}"""
#: What a reader fetches who goes to the end of the page.
READ = """async () => {
  const images = [...document.images].filter((image) => image.checkVisibility());
  const done = images.map((image) => image.complete || new Promise((settle) => {
    image.onload = image.onerror = settle;
  }));
  images.forEach((image) => { image.loading = 'eager'; });
  await Promise.race([Promise.all(done), new Promise((_, give) => setTimeout(() =>
    give(images.filter((image) => !image.complete).map((image) => image.src)), 60000))]);
  document.body.getBoundingClientRect();
  await document.fonts.ready;
}"""

#: Lay everything out, also what is far from the screen.
WHOLE = """* { content-visibility: visible !important; }
"""
OPEN = """() => {
  document.querySelectorAll('details').forEach((box) => { box.open = true; });
  document.querySelectorAll('details.solution').forEach((fold) => { fold.open = true; });
}"""
SETTLED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
STRUCTURE = """() => {
  const seen = (part) => part.checkVisibility({visibilityProperty: true});
  const name = (part) => part.getAttribute('aria-label')
    || document.getElementById(part.getAttribute('aria-labelledby'))?.textContent.trim() || '';
  const all = (selector) => [...document.querySelectorAll(selector)].filter(seen);
  return {
    headings: all('h1, h2, h3, h4, h5, h6, [role=heading]').map((part) =>
      Number(part.getAttribute('aria-level') || part.tagName[1])),
    landmarks: all('nav, aside, [role=navigation], [role=region], [role=complementary]')
      .filter((part) => part.getAttribute('role') !== 'note').map(name),
    mains: all('main').length,
    tables: all('main table').filter((part) =>
      !part.matches('[role=presentation]') && !part.querySelector('th[scope]')).map((part) =>
      part.outerHTML.slice(0, 200)),
    language: document.documentElement.lang,
  };
}"""
BOXES = """() => {
  const scrolls = (part) => {
    const style = getComputedStyle(part), can = (way) => /auto|scroll/.test(way);
    return (can(style.overflowX) && part.scrollWidth > part.clientWidth)
      || (can(style.overflowY) && part.scrollHeight > part.clientHeight);
  };
  const shown = [...document.querySelectorAll('main *:not(.katex *)')].filter((part) =>
    part.checkVisibility({visibilityProperty: true}) && part.clientWidth > 1);
  const own = 'a, button, input, summary, select, textarea';
  const tell = (part) => part.outerHTML.slice(0, 120);
  return {
    closed: shown.filter((part) => scrolls(part) && part.tabIndex < 0
      && !part.matches('nav, .bd-sidebar-secondary, .bd-sidebar-secondary *')).map(tell),
    needless: shown.filter((part) => part.tabIndex === 0 && !part.matches(own)
      && !part.closest('svg') && !scrolls(part)).map(tell),
    boxes: shown.filter((part) => part.tabIndex === 0 && scrolls(part)).length,
  };
}"""
SIDEWAYS = "document.documentElement.scrollWidth - window.innerWidth"
LETTERS = """() => [...document.querySelectorAll('main pre')].map((code) =>
  parseFloat(getComputedStyle(code).fontSize))"""
#: The size of the letters of each level of heading, in pixels.
LEVELS = """() => ['h1', 'h2', 'h3', 'h4'].flatMap((level) => {
  const sizes = [...document.querySelectorAll(`article ${level}`)].filter((part) =>
    part.checkVisibility()).map((part) => parseFloat(getComputedStyle(part).fontSize));
  return sizes.length ? [[Math.min(...sizes), Math.max(...sizes)]] : [];
})"""
ROOM = """() => [...document.querySelectorAll('main .cell_input pre, main .highlight pre')]
  .filter((code) => code.checkVisibility() && !code.closest('.cell_output')).map((code) => {
    const line = document.createElement('span');
    line.textContent = '0'.repeat(100);
    code.append(line);
    return [code, line];
  }).map(([code, line]) => {
    const style = getComputedStyle(code);
    const room = code.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    return {room, wide: line.getBoundingClientRect().width, place: code.closest('[id]').id, line};
  }).map(({line, ...box}) => { line.remove(); return box; })"""

#: Text that leaves the page at the right, outside of what scrolls.
OVER = """() => [...document.querySelectorAll('h1, h2, h3, article p, article li, figcaption')]
  .filter((part) => part.checkVisibility() && !part.closest('.results-graph, table, pre'))
  .filter((part) => part.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map((part) => part.outerHTML.slice(0, 120))"""
#: What a phone would cut or make too small: displayed formulas that scroll without a sign of it or
#: whose lines lie over each other, formulas in a text that leave it, verdicts that are cut, words
#: in tables that break, labels of figures under 9 px.
ON_A_PHONE = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)].filter((part) =>
    part.checkVisibility());
  const tex = (part) => part.closest('.katex').querySelector('annotation').textContent;
  const boxes = new Map(), box = (part) => {
    if (!boxes.has(part)) boxes.set(part, part.getBoundingClientRect());
    return boxes.get(part);
  };
  const words = [], mark = document.createRange();
  for (const cell of all('article :is(td, th)')) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      if (text.parentElement.closest('.katex')) continue;
      for (const word of text.data.matchAll(/[\\p{L}\\p{N}]{2,}/gu)) {
        mark.setStart(text, word.index);
        mark.setEnd(text, word.index + word[0].length);
        if (new Set([...mark.getClientRects()].map(({top}) => Math.round(top))).size > 1)
          words.push(text.data);
      }
    }
  }
  const outer = (formula) => [...formula.querySelectorAll('.katex-base')].filter((part) =>
    !part.parentElement.closest('.katex-base'));
  const lap = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1.5;
  const around = (part) => part.closest(
    'p, li, dd, dt, figcaption, h1, h2, h3, .equation, td, th, pre');
  return {
    wide: all('.equation-body').filter((part) => part.scrollWidth > part.clientWidth + 1
      && (!part.dataset.more || getComputedStyle(part).maskImage === 'none')).map((part) =>
      tex(part.querySelector('.katex-html'))),
    lapping: all('.katex-display .katex-html').filter((formula) => {
      const parts = outer(formula).map(box);
      return parts.some((a, i) => parts.slice(i + 1).some((b) => lap(a, b)));
    }).map(tex),
    leaving: all('article .katex-html').filter((formula) => {
      const block = around(formula);
      if (!block || block.closest('.equation, table, pre')) return false;
      return outer(formula).some((part) => box(part).right > document.documentElement.clientWidth);
    }).map(tex),
    cut: all('.verdicts li').filter((line) => {
      const card = box(line.closest('.verdict-card') || line.parentElement);
      return [line, ...line.querySelectorAll('.katex-base, .verdict')].some((part) =>
        box(part).right > card.right + 0.5);
    }).map((line) => line.innerText),
    words,
    small: all('article figure img').filter((picture) => {
      const label = picture.closest('figure').querySelector('.player') ? 14 : 12;
      const size = label * box(picture).width / (picture.getAttribute('width') || 1e4);
      return size < 9;
    }).map((picture) => picture.src),
    labels: all('main svg text').filter((label) =>
      parseFloat(getComputedStyle(label).fontSize) * label.getScreenCTM().a < 9).map((label) =>
      label.textContent),
  };
}"""
#: Formulas in a text whose full stop or comma begins the next line.
PARTED = """() => [...document.querySelectorAll('article .katex')].filter((formula) => {
  const after = formula.nextSibling, last = [...formula.querySelectorAll('.katex-base')].at(-1);
  if (!last || after?.nodeType !== Node.TEXT_NODE) return false;
  if (!/^[.,;:!?)\\]’]/.test(after.data)) return false;
  const mark = document.createRange();
  mark.setStart(after, 0);
  mark.setEnd(after, 1);
  const box = mark.getBoundingClientRect();
  return box.height > 0 && box.top > last.getBoundingClientRect().bottom;
}).map((formula) => formula.querySelector('annotation').textContent)"""
#: Parts that are not laid out yet and would lie over the next one, were they higher than thought.
SPILLING = """() => [...document.querySelectorAll('article > section > section')].filter((part) => {
  const style = getComputedStyle(part);
  return style.contentVisibility !== 'auto' || style.overflow !== 'hidden';
}).map((part) => part.id)"""
MOVING = """() => [...document.querySelectorAll('body *:not(.katex *)')].filter((part) => {
  const style = getComputedStyle(part);
  return style.animationName !== 'none' || style.scrollBehavior === 'smooth'
    || style.transitionDuration.split(',').some((time) => parseFloat(time) > 0);
}).map((part) => part.outerHTML.slice(0, 100))
  .concat(document.getAnimations().map((one) => one.id || 'an animation'))"""

#: Formulas and code keep their places without their parts, which spares axe most of the page.
EMPTIED = """() => {
  const all = [...document.querySelectorAll('.katex, pre')];
  window.emptied = all.map((whole) => [whole, whole.getBoundingClientRect()]).map(
    ([whole, {width, height}]) => {
      const parts = [...whole.childNodes];
      whole.replaceChildren();
      whole.style.cssText = `display: inline-block; width: ${width}px; height: ${height}px`;
      return () => { whole.removeAttribute('style'); whole.append(...parts); };
    });
}"""
FILLED = "() => window.emptied.forEach((fill) => fill())"
#: A formula stands there as its TeX, in its colour; of tokens of code that look alike on the same
#: ground, one stays. Both keep axe quick and blind to nothing that it has a rule for.
ONCE = """() => {
  document.querySelectorAll('.katex').forEach((formula) => {
    formula.textContent = formula.querySelector('annotation').textContent;
  });
  const ground = (part) => {
    for (; part; part = part.parentElement) {
      const colour = getComputedStyle(part).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour;
    }
  };
  const seen = new Set();
  [...document.querySelectorAll('pre')].map((code) => [code, ground(code)]).forEach(
    ([code, below]) => code.querySelectorAll('span').forEach((token) => {
      const look = `${token.className} on ${below}`;
      if (seen.has(look)) token.replaceWith(...token.childNodes);
      seen.add(look);
    }));
  document.fonts.dispatchEvent(new Event('loadingdone'));  // what scrolls now is known again
}"""
#: Of texts that look alike on the same ground one stands for all: note its element, if new.
LOOKS = """(known) => {
  const grounds = new Map([[null, '']]), looks = new Map(), old = new Set(known);
  const ground = (part) => {
    if (!grounds.has(part)) {
      const {backgroundColor, backgroundImage, opacity, filter} = getComputedStyle(part);
      const own = [backgroundColor, backgroundImage, opacity, filter].join();
      const none = own === 'rgba(0, 0, 0, 0),none,1,none';
      grounds.set(part, ground(part.parentElement) + (none ? '' : ` over ${own}`));
    }
    return grounds.get(part);
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const part = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim()) continue;
    const {color, fontSize, fontWeight, textShadow, textDecorationLine} = getComputedStyle(part);
    const link = part.closest('a'), around = link && getComputedStyle(link.parentElement).color;
    const look = [part.localName, link?.className, around, color, fontSize, fontWeight,
      textShadow, textDecorationLine, ground(part)].join();
    if (!looks.has(look) && part.checkVisibility({visibilityProperty: true}))
      looks.set(look, link || part);
  }
  const fresh = [...looks].filter(([look]) => !old.has(look)).map(([, part]) => part);
  (window.looks ??= {})[document.documentElement.dataset.theme] = [...new Set(fresh)];
  return {all: [...looks.keys()], fresh: fresh.length};
}"""
#: Empty all others, which spares axe their places; they stay as siblings, for the style sheet.
EMPTY_OTHERS = """() => {
  const looks = new Set(Object.values(window.looks).flat()), around = new Set();
  for (const look of looks)
    for (let part = look.parentElement; part; part = part.parentElement) around.add(part);
  for (const part of around) {
    if (looks.has(part)) continue;
    for (const child of part.children)
      if (!around.has(child) && !looks.has(child) && !child.matches('head, style'))
        child.replaceChildren();
  }
}"""
RUN = """async ({rules, among, ...options}) => {
  const found = await axe.run(among ? window.looks[among] : document, {
    resultTypes: ['violations'], rules: {'target-size': {enabled: true}, ...rules}, ...options});
  return found.violations.flatMap((rule) => rule.nodes.map((node) =>
    `${rule.id} (${rule.impact}): ${node.target} ${node.html.slice(0, 150)}`
      + ` ${node.failureSummary}`));
}"""
OF_COLOUR = ["color-contrast", "link-in-text-block"]


def audit(tab):
    """Return what axe finds in the whole page, its colours left out."""
    return tab.evaluate(RUN, {"rules": {rule: {"enabled": False} for rule in OF_COLOUR}})


def audit_targets(tab):
    """Return the links and buttons that axe finds too small, or too close to each other."""
    tab.evaluate(EMPTIED)
    found = tab.evaluate(RUN, {"runOnly": ["target-size"]})
    tab.evaluate(FILLED)
    return found


#: The looks that axe has found no fault in, by scheme: of those another page adds nothing.
FAULTLESS = {"light": set(), "dark": set()}


def audit_colours(tab, schemes=("light", "dark")):
    """Return what axe finds of colours, once for each look, and the number of looks, by scheme."""
    looks, found = {}, {}
    for scheme in schemes:
        in_scheme(tab, scheme)
        looks[scheme] = tab.evaluate(LOOKS, list(FAULTLESS[scheme]))
    if any(look["fresh"] for look in looks.values()):
        tab.evaluate(EMPTY_OTHERS)
    for scheme in reversed(schemes):
        found[scheme] = []
        if looks[scheme]["fresh"]:
            in_scheme(tab, scheme)
            found[scheme] = tab.evaluate(RUN, {"among": scheme, "runOnly": OF_COLOUR})
        if not found[scheme]:
            FAULTLESS[scheme].update(looks[scheme]["all"])
    return found, {scheme: len(looks[scheme]["all"]) for scheme in schemes}


def in_scheme(tab, scheme):
    """Switch the page to light or dark, if it is not."""
    if tab.evaluate("document.documentElement.dataset.theme") == scheme:
        return
    tab.emulate_media(color_scheme=scheme)
    tab.wait_for_function(
        "(name) => document.documentElement.dataset.theme === name", arg=scheme, polling=10
    )


def watched(tab):
    """Count the bytes that a tab fetches: return its wire and the counts by address."""
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
    return wire, size
