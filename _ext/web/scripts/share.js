/* Results and figures can be passed on: a button beside each copies its link, its citation or its TeX,
   and saves it. Nothing here is needed to read a page. */
"use strict";

(() => {
  const straight = (text) => text.replace(/[‘’]/g, "'").replace(/“/g, "``").replace(/”/g, "''");
  const tex = (node) => {
    if (node.nodeType === Node.TEXT_NODE)
      return straight(node.data).replace(/\s+/g, " ").replace(/([%&#_])/g, "\\$1");
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches("button, .permalink, .headerlink, .share-menu")) return "";
    const formula = node.matches(".katex-display, .katex") && node.querySelector("annotation");
    if (formula) {
      const source = formula.textContent.trim();
      return node.matches(".katex-display") || node.closest(".equation") ? `\n\\[\n${source}\n\\]\n` : `$${source}$`;
    }
    if (node.matches(".equation-number")) return "";
    const inner = [...node.childNodes].map(tex).join("");
    if (node.matches("strong")) return `\\textbf{${inner}}`;
    if (node.matches("em")) return `\\emph{${inner}}`;
    if (node.matches("ul, ol")) {
      const list = node.matches("ul") ? "itemize" : "enumerate";
      return `\n\\begin{${list}}${inner}\n\\end{${list}}\n`;
    }
    if (node.matches("li")) return `\n\\item ${inner.trim()}`;
    return node.matches("p") ? `${inner.trim()}\n\n` : inner;
  };

  const words = (node) => {
    const copy = node.cloneNode(true);
    copy.querySelectorAll("button, .permalink, .katex-html").forEach((part) => part.remove());
    copy.querySelectorAll("annotation").forEach((part) => part.parentElement.replaceChildren(`$${part.textContent}$`));
    return straight(copy.textContent).replace(/\s+/g, " ").trim();
  };

  // What a thing is: its anchor, its name, its TeX, its file.
  const result = (box) => {
    const title = words(box.querySelector(":scope > .admonition-title"));
    const kind = title.split(" ")[0].toLowerCase(), name = (title.match(/\((.*)\)$/) || [])[1];
    const body = [...box.children].filter((part) => !part.matches(".admonition-title")).map(tex).join("");
    const text = `\\begin{${kind}}${name ? `[${name}]` : ""}\n\\label{${box.id}}\n${body.trim()}\n\\end{${kind}}\n`
      .replace(/\n{3,}/g, "\n\n");
    return {id: box.id, title, text, save: () => [
      URL.createObjectURL(new Blob([text], {type: "application/x-tex"})), `${box.id}.tex`]};
  };
  const figure = (box) => {
    const link = box.querySelector("figcaption .permalink"), id = link.hash.slice(1);
    const image = box.querySelector("img.only-light") || box.querySelector("img");
    const title = words(box.querySelector(".caption-number") || box), file = `${id}.svg`;
    const caption = tex(box.querySelector(".caption-text")).trim();
    const text = "\\begin{figure}\n\\centering\n% needs the package svg\n" +
      `\\includesvg{${id}}\n\\caption{${caption}}\n\\label{${id}}\n\\end{figure}\n`;
    return {id, title, text, save: () => [image.src, file]};
  };

  const cite = ({id, title}) => {
    const entry = document.querySelector(".cite-entry")?.textContent || "";
    const page = (entry.match(/title {2}= \{(.*)\}/) || [])[1];
    return entry
      .replace(/^@misc\{[^,]*/, `@misc{${id}`)
      .replace(/title {2}= \{.*\}/, () => `title  = {${title.replace(/\.$/, "")}, in: ${page}}`)
      .replace(/(url {4}= \{[^}]*)/, (url) => `${url}#${id}`);
  };

  const menu = document.createElement("div");
  menu.className = "share-menu";
  menu.setAttribute("role", "group");
  let owner = null;
  const close = (back) => {
    if (!owner) return;
    owner.setAttribute("aria-expanded", "false");
    menu.remove();
    if (back) owner.focus({preventScroll: true});
    owner = null;
  };
  const act = (name, does) => {
    const button = Object.assign(document.createElement("button"), {type: "button", textContent: name});
    button.addEventListener("click", () => {
      does();
      close(true);
    });
    return button;
  };
  const open = (button, about) => {
    close();
    owner = button;
    const thing = about();
    const link = new URL(`#${thing.id}`, document.querySelector("link[rel=canonical]")?.href || window.location.href);
    menu.setAttribute("aria-label", `Share ${thing.title}`);
    menu.replaceChildren(
      act("Copy the link", () => window.bookCopy(link.href, "Link")),
      act("Copy the citation (BibTeX)", () => window.bookCopy(cite(thing), "Citation")),
      act("Copy as TeX", () => window.bookCopy(thing.text, "TeX")),
      act("Download", () => {
        const way = document.createElement("a");
        [way.href, way.download] = thing.save();
        way.click();
      }));
    const report = document.querySelector(".page-foot .report");
    if (report) {
      const form = new URL(report.href);
      if (form.searchParams.has("where")) form.searchParams.set("where", `${thing.title} (${thing.id})`);
      menu.append(act("Report a slip here", () => window.open(form.href, "_blank", "noopener")));
    }
    button.after(menu);
    button.setAttribute("aria-expanded", "true");
    menu.firstElementChild.focus({preventScroll: true});
  };
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !owner) return;
    close(true);
    event.stopPropagation();
  });
  document.addEventListener("click", (event) => {
    if (owner && !menu.contains(event.target) && !owner.contains(event.target)) close();
  });
  document.addEventListener("focusin", (event) => {
    if (owner && !menu.contains(event.target) && event.target !== owner) close();
  });

  const offer = (place, about, name) => {
    const button = Object.assign(document.createElement("button"), {type: "button", className: "share-button",
      ariaExpanded: "false", ariaLabel: `Share ${name}`, innerHTML: '<span aria-hidden="true">⋯</span>'});
    button.addEventListener("click", () => (owner === button ? close() : open(button, about)));
    place.append(button);
  };
  for (const link of document.querySelectorAll("div.proof > .admonition-title > .permalink")) {
    const box = link.closest("div.proof");
    offer(link.parentElement, () => result(box), link.getAttribute("aria-label").replace(/^Link to /, ""));
  }
  for (const link of document.querySelectorAll("figure figcaption .permalink")) {
    const box = link.closest("figure");
    offer(link.closest("figcaption"), () => figure(box), link.getAttribute("aria-label").replace(/^Link to /, ""));
  }
})();
