/* The search page: what has a name is found by it, and excerpts show a formula once. */
"use strict";

(() => {
  const plain = (text) =>
    text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, " ").trim();
  const textOf = (html) => html.replace(/<[^>]+>/g, "");

  // How well a name answers the question; 0 if a word of it is missing.
  const score = ([title, kind, , , words], wanted) => {
    const name = plain(textOf(title)), parts = wanted.split(" ");
    const among = (text, whole) => {
      const has = text.split(" ");
      return parts.every((part) => has.some((word) => whole ? word === part : word.startsWith(part)));
    };
    const rank =
      name === wanted ? 100 : name.startsWith(wanted + " ") ? 70 : among(name, true) ? 60
        : among(name, false) ? 40 : among(`${name} ${words}`, true) ? 20
          : among(`${name} ${words}`, false) ? 10 : 0;
    return rank && rank + (kind === "term" ? 3 : /\d/.test(kind) ? 2 : 1) - name.length / 1000;
  };

  const find = (question, names, most = 12) => {
    const wanted = plain(question);
    if (!wanted) return [];
    return names.map((name) => [score(name, wanted), name]).filter(([points]) => points > 0)
      .sort(([a], [b]) => b - a).slice(0, most).map(([, name]) => name);
  };

  const show = () => {
    const question = new URLSearchParams(window.location.search).get("q") || "";
    const place = document.getElementById("search-results");
    const found = find(question, window.bookNames || []);
    if (!place || !found.length) return;
    const box = document.createElement("section");
    box.id = "search-names";
    box.innerHTML = '<h2 id="search-names-title">Results, terms and functions</h2><ul></ul>';
    box.setAttribute("aria-labelledby", "search-names-title");
    for (const [title, kind, page, address, , symbol] of found) {
      const item = document.createElement("li");
      item.innerHTML = `<a>${title}</a>${symbol ? ` ${symbol}` : ""} <span class="result-kind"></span>`;
      item.firstChild.href = document.documentElement.dataset.content_root + address;
      item.lastChild.textContent = `${kind}, ${page}`;
      box.lastChild.append(item);
    }
    place.before(box);
  };

  // What an excerpt leaves out: second copies of formulas, contents for print, buttons.
  const UNREAD = ".katex-mathml, #jb-print-docs-body, nav, footer, .permalink, .claim-badge, .copybtn";

  if (typeof Search === "object") {
    const whole = Search.htmlToText;
    Search.htmlToText = (html, anchor) => {
      const page = new DOMParser().parseFromString(html, "text/html");
      page.querySelectorAll(UNREAD).forEach((part) => part.remove());
      return whole(page.documentElement.outerHTML, anchor);
    };
  }
  window.bookFind = find;
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", show);
  else show();
})();
