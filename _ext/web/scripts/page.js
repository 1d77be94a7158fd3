/* What a page does besides what the theme's script does. Everything can be read without it, and it
   needs no storage. */
"use strict";

(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);
  // A reader may refuse storage: what is kept then lasts as long as the page.
  const kept = window.bookKept = (name, value) => {
    try {
      if (value === undefined) return window.localStorage.getItem(name);
      window.localStorage.setItem(name, value);
    } catch { /* refused */ }
    return null;
  };

  // What answers while one types is fetched when the box is first used.
  document.addEventListener("focusin", function first({target: field}) {
    if (!field.matches?.("form.bd-search input")) return;
    document.removeEventListener("focusin", first);
    if (!window.bookFind) window.bookLoad("_static/search.js");
  });

  // The key / opens the search, as Ctrl+K does.
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    one(".search-button__button")?.click();
  });

  // Sidebars over a narrow page have names; buttons that the theme blurs keep the focus and tell
  // whether what they open is open.
  const sidebars = {primary: "Contents of the book", secondary: "On this page"};
  const tell = () => {
    for (const name of Object.keys(sidebars)) {
      const shown = one(`.bd-sidebar-${name}`)?.checkVisibility({visibilityProperty: true});
      for (const button of all(`.${name}-toggle`)) button.setAttribute("aria-expanded", Boolean(shown));
    }
  };
  for (const [name, said] of Object.entries(sidebars)) {
    const over = one(`#pst-${name}-sidebar-modal`);
    over?.setAttribute("aria-label", said);
    over?.addEventListener("close", () => window.setTimeout(() => {
      one(`.${name}-toggle`)?.focus();
      tell();
    }));
  }
  document.addEventListener("click", ({target}) => {
    const button = target.closest?.(".sidebar-toggle, .theme-switch-button");
    if (button) window.setTimeout(() => {
      if (!one("dialog[open]")) button.focus();
      tell();
    });
  }, true);
  for (const change of ["resize", "transitionend"]) window.addEventListener(change, tell);
  tell();

  // A menu closes when the reader goes elsewhere, and on Escape.
  const menus = "details.dropdown-download-buttons[open]";
  for (const way of ["click", "focusin"])
    document.addEventListener(way, ({target}) => {
      for (const menu of all(menus)) if (!menu.contains(target)) menu.open = false;
    });
  document.addEventListener("keydown", ({key}) => {
    for (const menu of key === "Escape" ? all(menus) : []) {
      menu.open = false;
      one("summary", menu).focus();
    }
  });

  // The button to the top shows while scrolling up: while what the reader sees moves down. The place
  // in the page does not tell, for it grows where a section above takes its true height.
  const top = one("#pst-back-to-top");
  const seen = () => document.elementFromPoint(innerWidth / 2, innerHeight / 2);
  const height = (element) => element?.getBoundingClientRect().top ?? 0;
  let here = seen(), before = height(here);
  document.addEventListener("scroll", () => {
    const moved = height(here) - before;
    if (moved) top?.classList.toggle("shown", window.scrollY > 400 && moved > 0);
    here = seen();
    before = height(here);
  }, {passive: true});
  top?.addEventListener("click", () => {
    window.scrollTo(0, 0);
  });

  // The reading view folds code and solutions; a button shows all of a kind. The choice for code is kept.
  const folds = {code: ".code-fold", solutions: "details.solution"};
  for (const button of all(".view-switch")) {
    const kind = button.dataset.shows, check = (yes) => {
      button.setAttribute("aria-pressed", yes);
      for (const fold of all(folds[kind])) fold.open = yes;
    };
    if (kind === "code" && kept("view") === "checking") check(true);
    button.addEventListener("click", () => {
      const yes = button.getAttribute("aria-pressed") !== "true";
      check(yes);
      if (kind === "code") kept("view", yes ? "checking" : "reading");
    });
  }

  // A link into a fold opens it. What is printed is what is shown.
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(window.location.hash.slice(1)));
    if (!target) return;
    for (let box = target; box; box = box.parentElement) {
      if (box.matches("details")) box.open = true;
    }
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", reveal);
  if (window.location.hash) {
    reveal();
    // What is laid out late may move the target: the page goes there once more, unless the reader has gone on.
    let gone = window.performance.getEntriesByType("navigation")[0]?.type !== "navigate";
    for (const way of ["wheel", "touchstart", "pointerdown", "keydown"])
      window.addEventListener(way, () => { gone = true; }, {once: true, passive: true});
    window.addEventListener("load", async () => {
      await document.fonts?.ready;
      for (let frames = 0; frames < 30 && !gone; frames++) {
        await new Promise(window.requestAnimationFrame);
        reveal();
      }
    });
  }
  let opened = [];
  window.addEventListener("beforeprint", () => {
    root.dataset.theme = "light";
    opened = all("main details:not([open], .code-fold, .solution)");
    for (const box of opened) box.open = true;
  });
  window.addEventListener("afterprint", () => {
    const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = root.dataset.mode === "auto" ? (dark ? "dark" : "light") : root.dataset.mode;
    for (const box of opened) box.open = false;
  });

  // A box that scrolls can be reached by Tab, exactly while it scrolls.
  const boxes = "pre, .equation-body, .pst-scrollable-table-container, .table-wrapper, " +
    ".cell_output > .output, .cell_output .text_html, .scrolls, aside.sidebar";
  const scrolls = (box) => {
    const style = window.getComputedStyle(box), can = (way) => /auto|scroll/.test(way);
    return (can(style.overflowX) && box.scrollWidth > box.clientWidth)
      || (can(style.overflowY) && box.scrollHeight > box.clientHeight);
  };
  // It fades at the edges beyond which there is more.
  const beyond = (box) => {
    const {scrollLeft: before, clientWidth: seen, scrollWidth: whole} = box;
    return `${before > 1 ? "left " : ""}${before + seen < whole - 1 ? "right" : ""}`.trim();
  };
  const fade = (box, more) => {
    if (more) box.dataset.more = more;
    else delete box.dataset.more;
  };
  // All are measured before the first is changed: else each would be laid out anew.
  const reach = (found) => found.map((box) => [box, scrolls(box), beyond(box)]).forEach(([box, yes, more]) => {
    if (yes ? more !== (box.dataset.more || "") : "more" in box.dataset) fade(box, yes && more);
    if (yes === (box.tabIndex === 0)) return;
    if (yes) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
  document.addEventListener("scroll", ({target: box}) => {
    if (box.dataset?.more) fade(box, beyond(box));
  }, {capture: true, passive: true});
  const sizes = new ResizeObserver((changes) => reach(changes.map(({target}) => target)));
  for (const box of all(boxes, one("main") || document)) {
    sizes.observe(box);
    if (box.firstElementChild) box.firstElementChild.dataset.inBox = "";
  }
  const inner = new ResizeObserver((changes) => reach(changes.map(({target}) => target)
    .filter((part) => part.isConnected).map((part) => part.parentElement)));
  for (const part of all("[data-in-box]")) inner.observe(part);
  // A font that arrives late widens a formula without resizing its box. What is not drawn yet is left alone.
  const drawn = (box) => !box.checkVisibility || box.checkVisibility({contentVisibilityAuto: true});
  document.fonts?.addEventListener("loadingdone", () => reach(all(boxes, one("main") || document).filter(drawn)));
})();
