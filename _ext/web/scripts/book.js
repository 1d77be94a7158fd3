/* What the pages do beyond being read: permanent links copy their address, and references show
   what they refer to. Nothing here is needed to read a page. */
"use strict";

(() => {
  const root = document.documentElement.dataset.content_root || "./";

  // What is said to a screen reader, and for a moment to the eye.
  const voice = document.createElement("div");
  voice.className = "book-voice";
  voice.setAttribute("role", "status");
  const say = (text) => {
    voice.textContent = "";
    window.setTimeout(() => { voice.textContent = text; }, 50);
  };

  // Permanent links ----------------------------------------------------------------------------

  const copy = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const field = document.body.appendChild(document.createElement("textarea"));
    field.value = text;
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done ? undefined : Promise.reject(new Error("not copied"));
  };

  // A script of the site, by its place from the root.
  window.bookLoad = (file) => new Promise((done) => {
    const script = document.createElement("script");
    script.src = root + file;
    script.onload = script.onerror = done;
    document.head.append(script);
  });
  window.bookCopy = (text, what) => copy(text).then(() => say(`${what} copied`), () => say(text));

  document.addEventListener("click", (event) => {
    const button = event.target.closest(".copybtn");
    if (button) window.setTimeout(() => { if (button.matches(".success")) say("Code copied"); }, 100);
    const link = event.target.closest("a.permalink, a.headerlink, a.equation-number");
    if (link && link.hash) {
      const what = (link.getAttribute("aria-label") || "Link").replace(/^Link to /, "Link to ");
      copy(link.href).then(() => {
        say(`${what} copied`);
        link.classList.add("copied");
        window.setTimeout(() => link.classList.remove("copied"), 1500);
      }, () => say(`${what} is in the address bar`));
    }
  });

  // Previews -------------------------------------------------------------------------------------

  const pieces = {}, waiting = {};
  window.bookPreviews = (page, found) => { pieces[page] = found; };

  const site = new URL(root, window.location.href);
  const pageOf = (link) => link.pathname.slice(site.pathname.length);

  const fetched = (page) => waiting[page] ||= window.bookLoad(page.replace(/\.html$/, ".previews.js"));

  const target = async (link) => {
    const name = decodeURIComponent(link.hash.slice(1));
    if (link.pathname === window.location.pathname) {
      const here = document.getElementById(name);
      return here && here.cloneNode(true);
    }
    const page = pageOf(link);
    await fetched(page);
    const html = pieces[page] && pieces[page][name];
    if (!html) return null;
    const box = document.createElement("template");
    box.innerHTML = html;
    for (const image of box.content.querySelectorAll("img"))
      image.src = new URL(image.getAttribute("src"), new URL(page, site)).href;
    return box.content.firstElementChild;
  };

  // A copy to be looked at: no second ids, no links, pictures found from this page.
  const cleaned = (node) => {
    node.removeAttribute("id");
    node.querySelectorAll(".permalink, .headerlink, button").forEach((part) => part.remove());
    node.querySelectorAll("[id]").forEach((part) => part.removeAttribute("id"));
    node.querySelectorAll("[tabindex]").forEach((part) => part.removeAttribute("tabindex"));
    node.querySelectorAll("img").forEach((image) => image.removeAttribute("loading"));
    node.querySelectorAll("a").forEach((link) => {
      const text = document.createElement("span");
      text.className = link.className;
      text.append(...link.childNodes);
      link.replaceWith(text);
    });
    return node;
  };

  const popup = document.createElement("div");
  popup.className = "book-preview";
  popup.id = "book-preview";
  popup.setAttribute("role", "tooltip");
  let owner = null, timer = 0;

  const close = () => {
    window.clearTimeout(timer);
    if (owner) owner.removeAttribute("aria-describedby");
    owner = null;
    popup.remove();
  };

  const later = (action, delay) => {
    window.clearTimeout(timer);
    timer = window.setTimeout(action, delay);
  };

  const place = (link) => {
    const line = link.getClientRects()[0], width = document.documentElement.clientWidth;
    const box = popup.getBoundingClientRect();
    const left = Math.max(8, Math.min(line.left, width - box.width - 8));
    const below = line.bottom + 6, above = line.top - 6 - box.height;
    const top = below + box.height > window.innerHeight && above > 0 ? above : below;
    popup.style.left = `${left + window.scrollX}px`;
    popup.style.top = `${top + window.scrollY}px`;
  };

  const open = async (link) => {
    if (owner === link) return;
    close();
    owner = link;
    const found = await target(link);
    if (!found || owner !== link) return;
    popup.replaceChildren(cleaned(found));
    popup.removeAttribute("tabindex");
    document.body.append(popup);
    place(link);
    if (popup.scrollHeight > popup.clientHeight + 1 || popup.scrollWidth > popup.clientWidth + 1) {
      popup.tabIndex = 0; // it scrolls, so the keyboard must reach it
    }
    link.setAttribute("aria-describedby", popup.id);
  };

  const linkAt = (event) => event.target.closest && event.target.closest("a[data-preview]");
  const inside = (node) => node && popup.contains(node);
  const byKeyboard = () => inside(document.activeElement) || owner.matches(":focus-visible");

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const link = linkAt(event);
    if (link) later(() => open(link), 200);
    else if (inside(event.target)) window.clearTimeout(timer);
    else if (owner && !byKeyboard()) later(close, 250);
  });
  document.addEventListener("focusin", (event) => {
    const link = linkAt(event);
    if (link && link.matches(":focus-visible")) open(link);
    else if (owner && !inside(event.target) && event.target !== owner) close();
  });
  document.addEventListener("focusout", (event) => {
    if (event.target === owner && !inside(event.relatedTarget)) close();
  });
  document.addEventListener("keydown", (event) => {
    if (!owner) return;
    if (event.key === "Escape") {
      const link = owner, back = inside(document.activeElement);
      close();
      if (back) { link.focus({ preventScroll: true }); close(); }
      event.stopPropagation();
    } else if (event.key === "Tab" && popup.tabIndex === 0 && popup.isConnected) {
      if (document.activeElement === owner && !event.shiftKey) {
        event.preventDefault();
        popup.focus({ preventScroll: true });
      } else if (inside(document.activeElement)) { // go on from the link
        const link = owner;
        close();
        link.focus({ preventScroll: true });
        close();
        if (event.shiftKey) event.preventDefault();
      }
    }
  }, true);

  // Where there is no pointer to hover with, a tap shows the target on a sheet from below.
  const sheet = async (link) => {
    const found = await target(link);
    if (!found) return window.location.assign(link.href);
    const box = document.createElement("dialog"), name = link.textContent.trim();
    box.className = "book-sheet";
    box.setAttribute("aria-label", name);
    box.innerHTML = '<p class="sheet-bar"><a></a> <button type="button" class="btn">Close</button></p>';
    const [go, close] = box.firstChild.children;
    go.href = link.href;
    go.textContent = /^[A-Z(]/.test(name) ? `Go to ${name}` : "Go there";
    go.addEventListener("click", () => box.close());
    close.addEventListener("click", () => box.close());
    box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
    box.addEventListener("close", () => box.remove());
    box.addEventListener("keydown", ({key}) => { if (key === "Escape") box.close(); });
    box.append(cleaned(found));
    document.body.append(box);
    box.showModal();
    return undefined;
  };
  document.addEventListener("click", (event) => {
    const link = linkAt(event), {pointerType: by} = event;
    const touched = by ? by !== "mouse" : window.matchMedia("(hover: none)").matches;
    if (!link || !touched || event.detail === 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    sheet(link);
  });

  const start = () => document.body.append(voice);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
