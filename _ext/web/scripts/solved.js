/* What was solved in live mode. This browser alone keeps it: marked at the exercise, counted in the
   contents of its chapter and on the map of the course, saved as a file, cleared. */
"use strict";

(() => {
  const exercises = [...document.querySelectorAll(".exercise[id]")], map = document.querySelector(".course-map");
  const place = map || exercises[0];
  if (!place) return;
  const read = () => JSON.parse(window.bookKept("solved") || "{}");
  const keep = (solved) => {
    window.bookKept("solved", JSON.stringify(solved));
    show();
  };
  const made = (tag, options) => Object.assign(document.createElement(tag), options);
  const mark = (box, innerHTML, before = null) => box.insertBefore(made("span", { className: "solved-mark", innerHTML }), before);

  const how = window.bookLive ? "Once the code of this page runs, each exercise has a cell of its own, and <em>Check</em> judges your answer."
    : "<code>make live</code> starts a server on your machine that checks your answers.";
  const bar = made("div", { className: "solved-bar", tabIndex: -1, innerHTML: `${map ? "" : `<p>${how}</p>`}<p class="theorem-acts"><span></span>
    <button type="button">Save as a file</button> <button type="button">Clear</button></p>` });
  const line = bar.lastChild, [said, save, clear] = line.children;
  save.addEventListener("click", () => {
    const file = new Blob([JSON.stringify(read(), null, 1)], { type: "application/json" });
    made("a", { href: URL.createObjectURL(file), download: "solved.json" }).click();
  });
  clear.addEventListener("click", () => {
    if (!window.confirm("Forget which exercises you solved, in all chapters?")) return;
    keep({});
    bar.focus();
  });

  const show = () => {
    document.querySelectorAll(".solved-mark").forEach((old) => old.remove());
    const solved = read(), here = exercises.filter(({ id }) => solved[id]);
    for (const { firstElementChild: title } of here) mark(title, "✓ solved", title.querySelector(".permalink"));
    const count = map ? Object.keys(solved).length : `${here.length} of ${exercises.length}`;
    const contents = document.querySelector(`.page-toc a[href="#${place.closest("section").id}"]`);
    if (here.length && contents) mark(contents, `${count} solved`);
    for (const row of map?.querySelectorAll(".map-chapter") || []) {
      const done = Object.values(solved).filter(({ chapter }) => chapter === row.dataset.name).length;
      if (done) mark(row.querySelector("a"), `✓ ${done}<span class="map-needs"> solved</span>`);
    }
    said.textContent = `✓ ${count} solved, kept in this browser alone.`;
    line.hidden = !Object.keys(solved).length;
  };
  window.bookSolved = (id, answer) => keep({ ...read(), [id]: {
    chapter: window.location.pathname.match(/([\w-]+)\.html$/)[1], on: new Date().toISOString().slice(0, 10), answer } });
  window.addEventListener("storage", show);
  place.before(bar);
  show();
})();
