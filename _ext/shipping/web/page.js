/* What a page does, in place of the scripts of the theme: colours, search box, sidebars, menus,
   contents, folds, copy buttons, boxes that scroll. Everything can be read without it, and it
   needs no storage. */
"use strict";

(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const one = (selector, within = document) => within.querySelector(selector);
  const wide = window.matchMedia("(min-width: 992px)");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  // A reader may refuse storage: what is kept then lasts as long as the page.
  const kept = (name, value) => {
    try {
      if (value === undefined) return window.localStorage.getItem(name);
      window.localStorage.setItem(name, value);
    } catch { /* refused */ }
    return null;
  };

  // Colours: light, dark, or as the system says.
  const colour = (mode) => {
    root.dataset.mode = mode;
    root.dataset.theme = mode === "auto" ? (dark.matches ? "dark" : "light") : mode;
    for (const button of all(".theme-switch-button"))
      button.setAttribute("aria-label", `Colours: ${mode === "auto" ? "as the system" : mode}`);
  };
  colour(root.dataset.mode || "auto");
  dark.addEventListener("change", () => colour(root.dataset.mode));
  for (const button of all(".theme-switch-button"))
    button.addEventListener("click", () => {
      const order = dark.matches ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
      colour(order[(order.indexOf(root.dataset.mode) + 1) % 3]);
      kept("mode", root.dataset.mode);
      kept("theme", root.dataset.theme);
    });

  // Search box: the button, Ctrl+K and / open it.
  const dialog = one("#pst-search-dialog");
  const onPage = () => all("form.bd-search input").find((input) => !input.closest("dialog"));
  const search = () => {
    if (onPage()) onPage().focus();
    else if (dialog.open) dialog.close();
    else dialog.showModal();
  };
  const mac = /^(Mac|iPhone)/.test(navigator.platform);
  if (mac) for (const key of all(".kbd-shortcut__modifier")) key.textContent = "\u2318";
  for (const button of all(".search-button__button")) button.addEventListener("click", search);
  document.addEventListener("keydown", (event) => {
    const command = mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    const slash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (slash || (command && !event.shiftKey && !event.altKey && /^k$/i.test(event.key))) {
      event.preventDefault();
      search();
    }
  });
  const outside = ({currentTarget: box, target, clientX: x, clientY: y}) => {
    const {left, right, top, bottom} = box.getBoundingClientRect();
    if (target === box && (x < left || x > right || y < top || y > bottom)) box.close();
  };
  dialog?.addEventListener("click", outside);

  // What answers while one types is fetched when the box is first used.
  document.addEventListener("focusin", function first({target: field}) {
    if (!field.matches?.("form.bd-search input")) return;
    document.removeEventListener("focusin", first);
    if (window.bookFind) return;
    const script = document.createElement("script");
    script.src = `${root.dataset.content_root}_static/web/search.js`;
    document.head.append(script);
  });

  // Sidebars: beside the text where there is room, over it where there is none.
  for (const [name, hides] of [["primary", wide], ["secondary", null]]) {
    const bar = one(`#pst-${name}-sidebar`), modal = one(`#pst-${name}-sidebar-modal`);
    const buttons = all(`.${name}-toggle`);
    if (!bar || !modal) continue;
    const move = (from, to) => {
      to.append(...from.childNodes);
      to.classList.add(...from.classList);
      from.className = "";
    };
    const shown = () => modal.open ||
      Boolean(hides?.matches && !bar.classList.contains("pst-sidebar-hidden"));
    const tell = () =>
      buttons.forEach((button) => button.setAttribute("aria-expanded", String(shown())));
    for (const button of buttons) {
      button.setAttribute("aria-controls", bar.id);
      button.addEventListener("click", () => {
        if (hides?.matches) bar.classList.toggle("pst-sidebar-hidden");
        else {
          move(bar, modal);
          modal.showModal();
        }
        tell();
      });
    }
    modal.addEventListener("click", (event) => {
      outside(event);
      if (event.target.closest("a")) modal.close();
    });
    modal.addEventListener("close", () => {
      move(modal, bar);
      tell();
    });
    hides?.addEventListener("change", tell);
    tell();
  }

  // The sidebar shows where the reader is in the book.
  const here = all(".bd-docs-nav .active").pop(), bar = one("div.bd-sidebar-primary");
  if (here && bar && wide.matches) {
    const place = here.getBoundingClientRect().top - bar.getBoundingClientRect().top;
    if (place > 0.5 * window.innerHeight) bar.scrollTop = place - bar.clientHeight / 4;
  }

  // Menus of the header.
  for (const button of all("[data-bs-toggle=dropdown]")) {
    const menu = button.nextElementSibling;
    const show = (open) => {
      menu.classList.toggle("show", open);
      button.setAttribute("aria-expanded", String(open));
    };
    button.addEventListener("click", () => show(!menu.classList.contains("show")));
    button.parentElement.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      show(false);
      button.focus();
    });
    document.addEventListener("click", (event) => {
      if (!button.parentElement.contains(event.target)) show(false);
    });
    button.parentElement.addEventListener("focusout", (event) => {
      if (event.relatedTarget && !button.parentElement.contains(event.relatedTarget)) show(false);
    });
  }

  // The contents of the page mark the section that is being read.
  const links = new Map();
  for (const link of all("#pst-page-toc-nav a[href^='#']")) {
    const section = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (section) links.set(one("h1, h2, h3, h4, h5, h6", section) || section, link);
  }
  const mark = (link) => {
    for (const other of links.values()) {
      other.classList.toggle("active", other === link);
      if (other === link) other.setAttribute("aria-current", "true");
      else other.removeAttribute("aria-current");
    }
    for (const entry of all("#pst-page-toc-nav .toc-entry"))
      entry.classList.toggle("active", entry.contains(link));
  };
  const reading = new IntersectionObserver((seen) => {
    const last = seen.filter((entry) => entry.isIntersecting).pop();
    if (last) mark(links.get(last.target));
  }, {rootMargin: "0px 0px -70% 0px"});
  for (const heading of links.keys()) reading.observe(heading);

  // The header has an edge once the page is scrolled; the button to the top shows while scrolling up.
  const top = one("#pst-back-to-top");
  let before = 0;
  document.addEventListener("scroll", () => {
    const now = window.scrollY;
    document.body.classList.toggle("scrolled", now > 0);
    top?.classList.toggle("shown", now > 400 && now < before);
    before = now;
  }, {passive: true});
  top?.addEventListener("click", () => {
    window.scrollTo(0, 0);
    one("#main-content")?.focus({preventScroll: true});
  });

  // The reading view folds code, the checking view shows all of it; the choice is kept.
  const view = one(".view-switch");
  const check = (yes) => {
    if (yes) window.bookUnfold(document);
    view.setAttribute("aria-pressed", yes);
    for (const code of all(".code-fold")) code.open = yes;
  };
  if (view && kept("view") === "checking") check(true);
  view?.addEventListener("click", () => {
    const yes = view.getAttribute("aria-pressed") !== "true";
    check(yes);
    kept("view", yes ? "checking" : "reading");
  });

  // Folds: solutions and what else is marked so; a link into one opens it, and so does printing.
  const chevron = '<svg xmlns="http://www.w3.org/2000/svg" class="tb-icon" viewBox="0 0 24 24" fill="none" ' +
    'stroke="currentColor" stroke-width="1.5" aria-hidden="true"><polyline points="9 6 15 12 9 18"/></svg>';
  const fold = (box, closed) => {
    const button = one(":scope > .admonition-title > .toggle-button", box);
    box.classList.toggle("toggle-hidden", closed);
    button.classList.toggle("toggle-button-hidden", closed);
    button.dataset.toggleHint = closed ? "Show" : "Hide";
    button.setAttribute("aria-expanded", String(!closed));
  };
  const folds = all(".admonition.dropdown, .admonition.toggle").filter((box) =>
    one(":scope > .admonition-title", box));
  for (const box of folds) {
    const title = one(":scope > .admonition-title", box), button = document.createElement("button");
    button.type = "button";
    button.className = "toggle-button";
    button.innerHTML = chevron;
    button.setAttribute("aria-label", title.textContent.replace(/\s+/g, " ").trim());
    box.classList.add("toggle");
    title.append(button);
    title.addEventListener("click", (event) => {
      if (!event.target.closest("a")) fold(box, !box.classList.contains("toggle-hidden"));
    });
    fold(box, !box.classList.contains("toggle-shown"));
  }
  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(window.location.hash.slice(1)));
    if (!target) return;
    for (let box = target; box; box = box.parentElement) {
      if (box.matches(".toggle-hidden")) fold(box, false);
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
    opened = folds.filter((box) => box.classList.contains("toggle-hidden"));
    opened.forEach((box) => fold(box, false));
    all("main details:not([open], .code-fold)").forEach((box) => {
      box.open = true;
      opened.push(box);
    });
  });
  window.addEventListener("afterprint", () => {
    colour(root.dataset.mode);
    for (const box of opened) {
      if (box.matches("details")) box.open = false;
      else fold(box, true);
    }
  });

  // Notes in the margin have the place of the contents while they are in sight.
  const contents = one("#pst-secondary-sidebar"), notes = new Set();
  const beside = new IntersectionObserver((seen) => {
    for (const {target, isIntersecting} of seen) notes[isIntersecting ? "add" : "delete"](target);
    contents.classList.toggle("hide", notes.size > 0);
  }, {rootMargin: "0px 0px -33% 0px"});
  if (contents)
    for (const note of all("main :is(.margin, .tag_margin, .sidebar, .full-width, .tag_full-width, .popout)"))
      beside.observe(note);

  // Code is copied by a button.
  const sheets = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="currentColor" ' +
    'stroke-width="1.5" aria-hidden="true"><rect x="8" y="8" width="12" height="12" rx="2"/>' +
    '<path d="M16 8V6a2 2 0 0 0-2-2H6a2 2 0 0 0-2 2v8a2 2 0 0 0 2 2h2"/></svg>';
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  };
  for (const code of all("div:not(.output) > div.highlight > pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copybtn";
    button.innerHTML = sheets;
    button.setAttribute("aria-label", "Copy the code");
    button.addEventListener("click", async () => {
      const lines = code.cloneNode(true);
      all(".linenos", lines).forEach((number) => number.remove());
      await copy(lines.textContent.replace(/\n$/, ""));
      button.classList.add("success");
      window.setTimeout(() => button.classList.remove("success"), 1500);
    });
    code.after(button);
  }
  // A box that scrolls can be reached by Tab, exactly while it scrolls.
  const boxes = "pre, .equation-body, .pst-scrollable-table-container, .table-wrapper, .results-graph, " +
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

  // A figure that a phone makes small opens large.
  const enlarge = (picture) => {
    const box = document.createElement("dialog"), shown = picture.cloneNode();
    const number = one(".caption-number", picture.closest("figure"))?.textContent.trim() || "The figure";
    box.className = "figure-large";
    box.setAttribute("aria-label", `${number}, large`);
    box.innerHTML = '<button type="button" class="btn close-large">Close</button><div class="scrolls" tabindex="0"></div>';
    box.lastChild.append(shown);
    one("button", box).addEventListener("click", () => box.close());
    box.addEventListener("close", () => box.remove());
    document.body.append(box);
    box.showModal();
  };
  for (const figure of all("article figure")) {
    const button = document.createElement("button"), last = all("img", figure).pop();
    if (!last || last.closest("a")) continue;
    button.type = "button";
    button.className = "enlarge";
    button.textContent = "Enlarge";
    const open = () => enlarge(all("img", figure).find((picture) => picture.checkVisibility()));
    button.addEventListener("click", open);
    for (const picture of all("img", figure))
      picture.addEventListener("click", () => { if (button.checkVisibility()) open(); });
    last.after(button);
  }

  // Words that were searched for are marked on the page to which the search led.
  if (kept("sphinx_highlight_terms") && !window.DOCUMENTATION_OPTIONS)
    for (const name of ["documentation_options", "doctools", "sphinx_highlight"]) {
      const script = document.createElement("script");
      script.async = false;
      script.src = `${root.dataset.content_root}_static/${name}.js`;
      document.head.append(script);
    }
})();
