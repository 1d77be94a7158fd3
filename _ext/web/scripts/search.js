/* Search: answers while one types, what has a name or a number first, then sections and pages; errors
   of typing are forgiven. Names are found by MiniSearch; of the words of all pages only those are
   fetched that begin like the question. Any page loads this when its search box is first used. */
"use strict";

(() => {
  const root = document.documentElement.dataset.content_root || "./";
  const plain = (text) => text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  // Numbers like 14.2 and powers like R^2 are words.
  const words = (text) => plain(text).match(/[\p{L}\p{N}]+(?:[.^][\p{L}\p{N}]+)*/gu) || [];
  const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

  // What has a name ------------------------------------------------------------------------------

  const WEIGHT = {term: 2.4, "function,": 0.9, "class,": 0.9, exercise: 0.9, section: 0.7, page: 0.7};
  let index = null;
  const names = () => index ||= Promise.all(["_static/minisearch.min.js", "searchnames.js"].map(window.bookLoad)).then(() => {
    const mini = new window.MiniSearch({
      fields: ["title", "kind", "more"],
      tokenize: (text) => words(text).flatMap((word) => /[.^]/.test(word) ? [word, ...word.split(/[.^]/)] : [word]),
      processTerm: (word) => word,
    });
    mini.addAll(window.bookNames.map((name, id) => {
      const [look, kind, , , title, more] = name;
      name.whole = words(title || look).join(" ");
      return {id, title: title || look, kind, more};
    }));
    return mini;
  });
  const find = async (question, most = 12) => {
    const mini = await names(), asked = words(question), wanted = asked.join(" ");
    const options = {
      tokenize: () => asked, combineWith: "AND", boost: {title: 4, kind: 2},
      prefix: (word) => word.length > 1 && !/\d/.test(word),
      boostDocument: (id) => {
        const {1: kind, whole} = window.bookNames[id], first = kind.split(" ")[0].toLowerCase();
        const weight = question.includes("_") && first.endsWith(",") ? 5 : WEIGHT[first] || 1.5;
        return weight * (whole === wanted ? 6 : whole.startsWith(`${wanted} `) ? 2 : 1);
      },
    };
    let found = mini.search(question, options);
    // Only what is found nowhere is taken for an error of typing.
    if (!found.length) found = mini.search(question, {...options,
      fuzzy: (word) => word.length < 4 || /\d/.test(word) ? false : word.length < 6 ? 1 : 2});
    return found.slice(0, most).map(({id}) => window.bookNames[id]);
  };
  window.bookFind = find;

  // What stands in the text ----------------------------------------------------------------------

  const held = {}, waiting = {};
  window.bookWords = (letter, table) => { held[letter] = table; };
  const pagesWith = async (word) => {
    const letter = /[a-z]/.test(word[0]) ? word[0] : "0";
    await (waiting[letter] ||= window.bookLoad(`searchwords/${letter}.js`));
    const stem = word.replace(/(ies|es|s|ing|ed|y|e)$/, ""), least = stem.length > 3 ? stem.length : word.length;
    const like = Object.keys(held[letter] || {})
      .filter((one) => one.startsWith(word) || (one.length >= least && word.startsWith(one)));
    return new Set(like.flatMap((one) => held[letter][one]));
  };
  const inText = async (question, most = 8) => {
    const parts = plain(question).match(/[\p{L}\p{N}]+/gu)?.filter((part) => part.length > 1) || [];
    if (!parts.length || /\d[.^]|\^/.test(question)) return [];
    const [first, ...rest] = await Promise.all(parts.map(pagesWith));
    const text = encodeURIComponent(question.trim()).replace(/-/g, "%2D");
    return [...first].filter((page) => rest.every((pages) => pages.has(page))).sort((a, b) => a - b).slice(0, most)
      .map((page) => [window.bookPages[page][0], "in the text", page, `:~:text=${text}`]);
  };

  // The answers, beneath the field -----------------------------------------------------------------

  const line = ([title, kind, number, anchor, , , symbol]) => {
    const [page, address] = window.bookPages[number], alone = /^(page|in the text)$/.test(kind) || /^api/.test(address);
    return `<li><a href="${root}${address}${anchor && `#${escaped(anchor)}`}">${title}</a>${symbol ? ` ${symbol}` : ""} ` +
      `<span class="result-kind">${escaped(alone ? kind : `${kind}, ${page}`)}</span></li>`;
  };
  const part = (title, lines) => lines.length
    ? `<section aria-label="${title}"><p class="found-title">${title}</p><ul>${lines.map(line).join("")}</ul></section>` : "";
  const answer = async (field) => {
    const around = field.closest("dialog, .bd-search-container"), question = field.value.trim();
    let box = around.querySelector(".found");
    if (!box) {
      box = document.createElement("div");
      box.className = "found";
      box.innerHTML = '<p class="book-voice" role="status"></p><div></div>';
      around.append(box);
      box.addEventListener("click", ({target}) => { if (target.closest("a")) around.close?.(); });
    }
    const wide = around.localName === "dialog" ? 1 : 2;
    const all = question ? await find(question, 40) : [await names()] && [];
    const text = question.length > 2 ? await inText(question, 8 * wide) : [];
    if (field.value.trim() !== question) return;
    const place = ([, kind]) => /^(Section|page)/.test(kind);
    const named = all.filter((one) => !place(one)).slice(0, 8 * wide);
    const places = [...all.filter(place).slice(0, 4 * wide), ...text].slice(0, 8 * wide);
    const [voice, list] = box.children, count = named.length + places.length;
    list.innerHTML = part("Results, terms and functions", named) + part("Sections and pages", places) ||
      (question ? "<p>Nothing is called so, and no page says it.</p>" : "");
    voice.textContent = question ? `${count} answer${count === 1 ? "" : "s"}` : "";
  };
  const asking = ({target: field}) => { if (field.matches?.("form.bd-search input")) answer(field); };
  document.addEventListener("input", asking);
  document.addEventListener("focusin", asking);
  document.addEventListener("keydown", (event) => {
    const box = event.target.closest?.(":has(> .found)"), way = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!box || !way) return;
    const stops = [box.querySelector("input"), ...box.querySelectorAll(".found a")];
    stops[stops.indexOf(document.activeElement) + way]?.focus();
    event.preventDefault();
  });
  const own = document.querySelector(".bd-search-container input");
  if (own) {
    own.value = new URLSearchParams(window.location.search).get("q") || "";
    if (own.value) answer(own);
    else own.focus();
  } else if (document.activeElement?.matches("form.bd-search input")) answer(document.activeElement);
})();
