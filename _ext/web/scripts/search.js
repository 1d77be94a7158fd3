/* Search: answers while one types, what has a name first, then sections and pages; errors of typing
   are forgiven. The search page loads this at once, any other page when its search box is first used. */
"use strict";

(() => {
  const root = document.documentElement.dataset.content_root || "./";
  const plain = (text) =>
    text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, " ").trim();
  const textOf = (html) => html.replace(/<[^>]+>/g, "");
  const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

  // Whether a few letters turn one word into the other; two neighbours exchanged count once.
  const near = (a, b, most) => {
    if (Math.abs(a.length - b.length) > most) return false;
    let before = [], last = Array.from({length: b.length + 1}, (_, j) => j);
    for (let i = 1; i <= a.length; i++) {
      const now = [i];
      for (let j = 1; j <= b.length; j++) {
        now[j] = Math.min(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] !== b[j - 1]));
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
          now[j] = Math.min(now[j], before[j - 2] + 1);
      }
      if (Math.min(...now) > most) return false;
      [before, last] = [last, now];
    }
    return last[b.length] <= most;
  };

  // The words that a part of the question may mean: those it begins, else those near to it.
  const meant = (part, vocabulary) => {
    const begun = vocabulary.filter((word) => word.startsWith(part));
    const most = part.length < 4 ? 0 : part.length < 8 ? 1 : 2;
    if (begun.length || !most) return {words: new Set(begun), exact: true};
    const like = (word) => word[0] === part[0] &&
      (near(word, part, most) || (part.length > 5 && near(word.slice(0, part.length), part, most)));
    return {words: new Set(vocabulary.filter(like)), exact: false};
  };

  const prepared = new WeakMap();
  const known = (names) => {
    if (!prepared.has(names)) {
      const lines = names.map((name) => {
        const title = plain(textOf(name[0]));
        return {name, title, own: title.split(" "), all: new Set(`${title} ${name[4]}`.split(" "))};
      });
      prepared.set(names, {lines, words: [...new Set(lines.flatMap(({all}) => [...all]))]});
    }
    return prepared.get(names);
  };

  // How well a name answers the question; 0 if a word of it is missing.
  const score = ({name, title, own, all}, wanted, parts, meanings) => {
    const inside = (words, whole) => parts.every((part, i) => whole
      ? words.includes(part) : words.some((word) => meanings[i].words.has(word)));
    const exact = meanings.every((meaning) => meaning.exact);
    const rank =
      title === wanted ? 100 : title.startsWith(`${wanted} `) ? 70 : inside(own, true) ? 60
        : title.startsWith(wanted) ? 50
        : inside(own, false) ? (exact ? 40 : 30) : inside([...all], true) ? 20
          : inside([...all], false) ? 10 : 0;
    return rank && rank + (name[1] === "term" ? 3 : /\d/.test(name[1]) ? 2 : 1) - title.length / 1000;
  };

  const find = (question, names, most = 12) => {
    const wanted = plain(question);
    if (!wanted) return [];
    const {lines, words} = known(names), parts = wanted.split(" ");
    const meanings = parts.map((part) => meant(part, words));
    return lines.map((line) => [score(line, wanted, parts, meanings), line.name])
      .filter(([points]) => points > 0)
      .sort(([a], [b]) => b - a).slice(0, most).map(([, name]) => name);
  };

  // The pages that hold a word, or one that it begins.
  const held = (part, index) => {
    const pages = new Set(), stem = part.replace(/(ies|es|s|ing|ed|y|e)$/, "");
    const shortest = stem.length > 3 ? stem : part;
    for (const table of [index.terms, index.titleterms])
      for (const word of Object.keys(table))
        if (word.startsWith(part) || (word.length >= shortest.length && part.startsWith(word)))
          [table[word]].flat().forEach((page) => pages.add(page));
    return pages;
  };

  // The question with each word that no page holds replaced by the nearest of names and titles; "" if
  // nothing is to be replaced, or nothing is near.
  const spelled = (question, index, names) => {
    const parts = plain(question).split(" ");
    const titles = Object.keys(index.alltitles).flatMap((title) => plain(textOf(title)).split(" "));
    const vocabulary = [...new Set([...known(names).words, ...titles])].filter((word) => word.length > 3);
    const right = parts.map((part) => {
      if (part.length < 4 || held(part, index).size) return part;
      for (let most = 1; most <= (part.length < 8 ? 1 : 2); most++) {
        const like = vocabulary.find((word) => word[0] === part[0] && near(word, part, most));
        if (like) return like;
      }
      return "";
    });
    return right.every(Boolean) && right.some((part, i) => part !== parts[i]) ? right.join(" ") : "";
  };

  // Sections whose titles hold all words, then pages that do, the fuller ones first.
  const places = (question, index, most = 8) => {
    const parts = plain(question).split(" ").filter((part) => part.length > 1), found = [];
    if (!parts.length) return found;
    for (const [title, where] of Object.entries(index.alltitles)) {
      const words = plain(title).split(" ");
      if (/^\s*\(|^$/.test(title) || !parts.every((part) => words.some((word) => word.startsWith(part)))) continue;
      for (const [page, anchor] of where)
        found.push([title, textOf(index.titles[page]), `${index.docnames[page]}.html${anchor ? `#${anchor}` : ""}`]);
    }
    // What a page holds is indexed by the stems of its words.
    const holding = parts.map((part) => held(part, index));
    const text = encodeURIComponent(question.trim()).replace(/-/g, "%2D");
    const depth = (page) => index.docnames[page].split("/").length; // chapters come first
    for (const page of [...holding[0]].sort((a, b) => depth(b) - depth(a)))
      if (holding.every((pages) => pages.has(page)) && depth(page) > 1)
        found.push([textOf(index.titles[page]), "in the text", `${index.docnames[page]}.html#:~:text=${text}`]);
    return found.slice(0, most);
  };

  // Both are fetched once, on first use.
  const load = (address) => new Promise((done) => {
    const script = document.createElement("script");
    script.src = root + address;
    script.onload = script.onerror = done;
    document.head.append(script);
  });
  let index = null, names = null, pages = null;
  const withNames = () => names ||= window.bookNames ? Promise.resolve() : load("searchnames.js");
  const withPages = () => pages ||= (async () => {
    if (typeof Search === "undefined") {
      window.Search = {setIndex: (found) => { index = found; }};
      await load("searchindex.js");
    } else index = Search._index ?? await new Promise((done) => {
      const look = () => (Search._index ? done(Search._index) : window.setTimeout(look, 50));
      look();
    });
  })();

  const line = (title, where, address, symbol = "") =>
    `<li><a href="${root}${escaped(address)}">${title}</a>${symbol ? ` ${symbol}` : ""} ` +
    `<span class="result-kind">${escaped(where)}</span></li>`;
  const named = (question, most) => find(question, window.bookNames || [], most)
    .map(([title, kind, page, address, , symbol]) => line(title, `${kind}, ${page}`, address, symbol));

  // The search page: names above what Sphinx finds; its list knows the words of the pages and no
  // other, so what was perhaps meant is offered.
  let shown = 0;
  const show = async (question) => {
    const place = document.getElementById("search-results"), found = named(question), turn = ++shown;
    document.getElementById("search-names")?.remove();
    document.getElementById("search-meant")?.remove();
    if (!place || !question.trim()) return;
    if (found.length) {
      const box = document.createElement("section");
      box.id = "search-names";
      box.innerHTML = '<h2 id="search-names-title">Results, terms and functions</h2>' +
        `<ul>${found.join("")}</ul>`;
      box.setAttribute("aria-labelledby", "search-names-title");
      place.before(box);
    }
    await withPages();
    const meaning = index && turn === shown ? spelled(question, index, window.bookNames || []) : "";
    if (!meaning) return;
    const line = document.createElement("p");
    line.id = "search-meant";
    line.innerHTML = "No page says this. Did you mean " +
      `<a href="?q=${encodeURIComponent(meaning)}">${escaped(meaning)}</a>?`;
    place.before(line);
  };

  // The box over any other page: answers stand beneath the field.
  const answer = async (field) => {
    const dialog = field.closest("dialog"), question = field.value;
    await withNames();
    if (!dialog) return show(field.value);
    let box = dialog.querySelector(".found");
    if (!box) {
      box = document.createElement("div");
      box.className = "found";
      box.innerHTML = '<p class="book-voice" role="status"></p><div></div>';
      dialog.append(box);
      box.addEventListener("click", (event) => { if (event.target.closest("a")) dialog.close(); });
    }
    const [voice, list] = box.children;
    const write = () => {
      if (field.value !== question) return;
      const first = question.trim() ? named(question, 8) : [];
      let there = index && question.trim().length > 2 ? places(question, index) : [];
      if (index && !there.length) {
        const meaning = spelled(question, index, window.bookNames || []);
        if (meaning) there = places(meaning, index);
      }
      const then = there.map(([title, where, address]) => line(escaped(title), where, address));
      const part = (title, lines) => lines.length ? `<p class="found-title">${title}</p><ul>${lines.join("")}</ul>` : "";
      const none = index && question.trim().length > 2 ? "<p>Nothing is called so, and no page says it.</p>" : "";
      list.innerHTML = part("Results, terms and functions", first) + part("Sections and pages", then) || none;
      const count = first.length + then.length;
      voice.textContent = question.trim() ? `${count} answer${count === 1 ? "" : "s"}` : "";
    };
    write();
    await withPages();
    write();
    return undefined;
  };
  const asking = ({target: field}) => { if (field.matches?.("form.bd-search input")) answer(field); };
  document.addEventListener("input", asking);
  document.addEventListener("focusin", asking);
  document.addEventListener("keydown", (event) => {
    const dialog = event.target.closest?.("dialog:has(.found)"), way = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!dialog || !way) return;
    const stops = [dialog.querySelector("input"), ...dialog.querySelectorAll(".found a")];
    stops[stops.indexOf(document.activeElement) + way]?.focus();
    event.preventDefault();
  });

  // What an excerpt leaves out: second copies of formulas, contents for print, buttons.
  const UNREAD = ".katex-mathml, #jb-print-docs-body, nav, footer, .permalink, .claim-badge, .copybtn";

  if (typeof Search === "object" && Search.htmlToText) {
    const whole = Search.htmlToText;
    Search.htmlToText = (html, anchor) => {
      const page = new DOMParser().parseFromString(html, "text/html");
      page.querySelectorAll(UNREAD).forEach((part) => part.remove());
      return whole(page.documentElement.outerHTML, anchor);
    };
  }
  window.bookFind = find;
  const start = () => {
    if (document.getElementById("search-results"))
      show(new URLSearchParams(window.location.search).get("q") || "");
    if (document.activeElement?.matches("form.bd-search input")) answer(document.activeElement);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
