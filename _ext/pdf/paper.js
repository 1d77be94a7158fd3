/* Makes a page of the site ready for paper, in the browser that prints it. */
"use strict";

/* Leave the article alone, its anchors with the name of the page in front, and links to other pages
   as addresses that begin with `away`. Return its title and sections. `numbers` are the pages of
   anchors, printed behind links; `front` is printed instead of the article. */
window.toPaper = ({page, home, code, solutions = true, away, numbers, front}) => {
  const root = new URL(document.documentElement.dataset.content_root, window.location.href).pathname;
  const article = document.querySelector("article.bd-article");
  if (front) article.innerHTML = front;
  const all = (selector) => [...article.querySelectorAll(selector)];
  for (const part of all(".headerlink, .permalink, .share, img.only-dark, script, button, .toctree-wrapper, .player-bar, .viewcode-link"))
    part.remove();
  if (!code) for (const fold of all(".code-fold")) fold.remove();
  if (!solutions) for (const fold of all("details.solution")) fold.remove();
  for (const fold of all("details")) fold.open = true;
  for (const image of all("img")) image.loading = "eager";
  for (const link of all("a[href]")) {
    const url = new URL(link.href);
    if (url.protocol !== "file:") continue;
    const target = decodeURIComponent(url.pathname.slice(root.length)).replace(/\.html$/, "");
    const place = home[target] + (url.hash ? `--${decodeURIComponent(url.hash.slice(1))}` : "");
    if (!home[target]) link.removeAttribute("href"); // the text stays, without a link
    else link.setAttribute("href", target === page ? `#${place}` : away + place);
    if (numbers[place]) link.after(`, ${numbers[place]}`);
  }
  for (const part of all("[id]")) part.id = `${home[page]}--${part.id}`;
  article.id = front ? "front" : home[page];
  const titled = (heading) => {
    const copy = heading.cloneNode(true);
    copy.querySelectorAll("a").forEach((link) => link.replaceWith(...link.childNodes));
    const html = copy.innerHTML;
    copy.querySelectorAll(".katex-html").forEach((part) => part.remove());
    copy.querySelectorAll("annotation").forEach((part) => part.remove());
    return {html, plain: copy.textContent.replace(/\s+/g, " ").trim()};
  };
  const heading = article.querySelector("h1");
  const sections = all("section").filter((part) => part.querySelector(":scope > h2"))
    .map((part) => ({id: part.id, ...titled(part.querySelector(":scope > h2"))}));
  const found = {...titled(heading), sections};
  // An anchor is noted in the file only if a link of its own document leads there.
  const links = document.createElement("p");
  links.hidden = true;
  for (const part of [article, ...all("[id]")])
    links.append(Object.assign(document.createElement("a"), {href: `#${encodeURIComponent(part.id)}`}));
  const main = document.createElement("main");
  main.className = "bd-content";
  main.append(article, links);
  document.body.replaceChildren(main);
  document.documentElement.dataset.theme = "light";
  document.documentElement.style.setProperty("--title", JSON.stringify(found.plain));
  return found;
};

/* Make what is wider than the page as small as it must be; return what still does not fit. All
   widths are read before any size is set: each change lays out the whole document anew. */
window.fitPaper = () => {
  const boxes = [...document.querySelectorAll(".equation-body")]
    .map((box) => ({ box, part: box.firstElementChild, least: 0.5, size: 1 }));
  for (const part of document.querySelectorAll("table")) {
    boxes.push({ box: part.parentElement, part, least: 0.6, size: 1 });
  }
  for (let round = 0; round < 8; round += 1) {
    const wide = boxes
      .map((one) => ({ one, ratio: one.box.clientWidth / one.box.scrollWidth }))
      .filter(({ one, ratio }) => ratio < 0.999 && one.size > one.least);
    if (!wide.length) break;
    for (const { one, ratio } of wide) {
      one.size = Math.max(one.least, one.size * Math.min(ratio, 0.99) * 0.995);
      one.part.style.fontSize = `${one.size}em`;
    }
  }
  for (const code of document.querySelectorAll("pre")) { // short code is not torn apart
    if (code.textContent.split("\n").length > 15) continue;
    const box = code.closest(".cell_input, .output") || code.parentElement;
    box.style.setProperty("break-inside", "avoid", "important");
  }
  const edge = document.querySelector("main").getBoundingClientRect().right + 1;
  const parts = ".katex-html .katex-base, img, pre, td, p, li, .equation-number";
  const crossed = [...document.querySelectorAll(".equation-number")].filter((number) => {
    const formulas = number.parentElement.querySelectorAll(".katex-html .katex-base");
    const left = number.getBoundingClientRect().left;
    return [...formulas].some((part) => part.getBoundingClientRect().right > left + 1);
  });
  return [...document.querySelectorAll(parts)]
    .filter((part) => part.getBoundingClientRect().right > edge)
    .concat(crossed)
    .map((part) => `${part.closest("[id]")?.id}: ${part.textContent.slice(0, 60)}`);
};
