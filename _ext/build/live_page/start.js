/* make live: the cells of a page can be edited and run, in a kernel on this machine. Thebe
   (live/thebe) is loaded by the first click; until then this is one button. */
"use strict";

(() => {
  const { root, baseUrl, token } = window.bookLive;
  const title = document.querySelector(".bd-article h1");
  let cells = [];
  const button = (name, title, act) => {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent: name, title });
    made.addEventListener("click", act);
    return made;
  };

  const bar = document.createElement("p"), status = document.createElement("span");
  bar.className = "live-bar";
  status.setAttribute("role", "status");

  const load = (tag, options) => new Promise((done, failed) => {
    const part = Object.assign(document.createElement(tag), options, { onload: done });
    part.onerror = () => failed(new Error(`${options.src || options.href} was not found`));
    document.head.append(part);
  });

  // Each opened page has a session of its own: no name of one page is known on another.
  const own = `${window.location.pathname.replace(/\W+/g, "-")}-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;

  // A cell of the reader's own stands under each exercise. Thebe pairs the n-th source with the n-th output.
  const prepare = () => {
    for (const exercise of document.querySelectorAll(".exercise")) {
      const name = exercise.querySelector(".admonition-title").textContent.match(/Exercise [\d.]+/)[0];
      exercise.insertAdjacentHTML("afterend", `<div class="cell docutils container live-own" data-exercise="${exercise.id}">` +
        `<div class="cell_input"><div class="highlight"><pre># ${name}: your own cell. Check says what to hand in.\nhanded_in = None\n</pre></div></div></div>`);
    }
    cells = [...document.querySelectorAll(".cell")].filter((cell) => cell.querySelector(".cell_input pre"));
    for (const cell of cells) {
      cell.querySelectorAll(".copybtn").forEach((copy) => copy.remove());
      const source = cell.querySelector(".cell_input pre");
      source.dataset.liveSource = "";
      source.dataset.language = "python";
      if (!cell.querySelector(".cell_output"))
        cell.insertAdjacentHTML("beforeend", '<div class="cell_output docutils container"></div>');
      cell.querySelector(".cell_output").dataset.liveOutput = "";
    }
  };

  const connect = async () => {
    await load("link", { rel: "stylesheet", href: `${root}live/thebe/thebe.css` });
    await Promise.all(["thebe/index.js", "katex/katex.min.js"].map((file) => load("script", { src: `${root}live/${file}` })));
    const seen = document.elementFromPoint(window.innerWidth / 2, window.innerHeight / 2) || title;
    const before = seen.getBoundingClientRect().top;
    prepare();
    document.documentElement.classList.add("live");
    const theme = document.documentElement.dataset.theme === "dark" ? "darcula" : "idea";
    const { server, notebook } = await window.thebe.bootstrap({
      useBinder: false, requestKernel: false, predefinedOutput: true,
      selector: "[data-live-source]", outputSelector: "[data-live-output]",
      mountRunButton: false, mountRunAllButton: false, mountRestartButton: false, mountRestartAllButton: false,
      mathjaxUrl: `${window.location.origin}/live/no-mathjax.js`, mathjaxConfig: "none",
      codeMirrorConfig: { theme, lineNumbers: false, viewportMargin: Infinity, lineWrapping: false },
      kernelOptions: { kernelName: "python3", path: own },
      serverSettings: { baseUrl, wsUrl: baseUrl.replace(/^http/, "ws"), token, appendToken: true },
    });
    notebook.rendermime.removeMimeType("text/markdown"); // claims are shown as cards, below
    window.scrollBy(0, seen.getBoundingClientRect().top - before);
    await server.ready;
    const session = await server.startNewSession(notebook.rendermime);
    if (!session) throw new Error("the kernel did not start");
    notebook.attachSession(session);
    const address = `${baseUrl}/api/sessions/${session.connection.id}`;
    window.addEventListener("pagehide", () => {
      window.fetch(address, { method: "DELETE", keepalive: true, headers: { Authorization: `token ${token}` } });
    });
    return { notebook, session };
  };

  // The card of a claim or of a report, from the Markdown that it displays: red where a verdict fails.
  const set = (text) => text.split(/((?<!\\)\$[^$]*\$|(?<!\\)`[^`]*`|\*\*)/).map((piece) => {
    if (piece === "**") return "";
    if (/^\$./.test(piece)) return window.katex.renderToString(piece.slice(1, -1), { throwOnError: false });
    const plain = piece.replace(/^`|`$/g, "").replace(/\\(.)/g, "$1").replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
    return /^`./.test(piece) ? `<code>${plain}</code>` : plain;
  }).join("");
  const card = (markdown) => {
    const made = document.createElement("div"), verdict = /^- \*\*(✗ )?(\w+)(?: fails:)?\*\* (.*?)(?: \*\(\d+ checks\)\*)?$/;
    const lines = markdown.split("\n").filter((line) => line && !/^(<|`[\w-]+`$|[✓✗] \*\*ex-)/.test(line));
    const html = lines.map((line) => {
      const [, failed, kind, text] = line.match(verdict) || [];
      if (!kind) return `<p>${set(line.replace(/^- /, "• "))}</p>`;
      return `<li><span class="verdict verdict-${failed ? "fails" : kind}">${failed ? `${kind}: fails` : kind}</span> ` +
        `<span class="verdict-text">${set(text)}</span></li>`;
    }).join("");
    made.className = `verdict-card${/^(- \*\*)?✗/m.test(markdown) ? " fails" : ""}`;
    made.innerHTML = html.replace(/(<li>.*?<\/li>)+/gs, '<ul class="verdicts">$&</ul>');
    return /^\*\*.*\*\*$/.test(lines[0]) || lines.some((line) => verdict.test(line)) ? made : null;
  };
  const draw = (cell, found) => {
    const boxes = cell.querySelectorAll(".cell_output .jp-OutputArea-child");
    const said = found.area.model.toJSON().map(({ data }) => [data?.["text/markdown"] || ""].flat().join(""));
    said.forEach((markdown, i) => {
      const made = card(markdown);
      if (made) boxes[i]?.replaceChildren(made);
    });
    return /^\*\*.*: (\d+) of \1 hold\*\*$/m.test(said.at(-1)); // the last report has nothing against it
  };

  // A cell is run after the cells before it that have not run yet, one after the other.
  const ran = new Set();
  let queue = Promise.resolve();
  const run = (notebook, last, exercise = "") => {
    const judge = exercise && `\n\nfrom mllib.course import answer as _answer\n_answer("${exercise}", *(g for g in [globals().pop("handed_in", None)] if g is not None))`;
    queue = queue.then(async () => {
      for (let i = 0; i <= last; i += 1) {
        if (i < last && (ran.has(i) || cells[i].matches(".live-own"))) continue;
        status.textContent = `Running cell ${i + 1} of ${cells.length} ...`;
        const cell = notebook.cells[i];
        const result = await cell.execute(i === last ? cell.source + judge : cell.source);
        const passed = draw(cells[i], cell);
        cells[i].classList.add("live-ran");
        if (result && result.error) {
          status.textContent = `Cell ${i + 1} ended in an error.`;
          return;
        }
        ran.add(i);
        if (exercise && i === last) {
          if (passed) window.bookSolved(exercise, cell.source);
          status.textContent = passed ? "Solved." : "Not solved yet: the card says what is missing.";
          return;
        }
      }
      status.textContent = `Cell ${last + 1} ran.`;
    });
    return queue;
  };

  const whole = ({ notebook, session }) => status.before(
    button("Run all", "Run every cell of this page, from the first", async () => {
      ran.clear();
      const last = cells.findLastIndex((cell) => !cell.matches(".live-own"));
      await run(notebook, last);
      if (ran.has(last)) status.textContent = `All ${ran.size} cells ran.`;
    }), " ",
    button("Restart", "Forget every name; the outputs stay until cells run again", () => {
      queue = queue.then(async () => {
        status.textContent = "Restarting ...";
        await session.restart();
        ran.clear();
        cells.forEach((cell) => cell.classList.remove("live-ran"));
        status.textContent = "Restarted: no cell has run.";
      });
    }), " ");

  // What was written into a cell is kept by this browser until it is put back.
  const shelf = `live ${window.location.pathname}`, kept = JSON.parse(window.bookKept(shelf) || "{}");
  const controls = (notebook) => cells.forEach((cell, i) => {
    const box = cell.querySelector(".thebe-cell"), editor = box.querySelector(".CodeMirror").CodeMirror;
    const first = editor.getValue();
    const go = button("Run", "Run this cell, and first the cells above that have not run (Shift-Enter)", () => run(notebook, i));
    const back = button("Put back", "Put back what stood here", () => editor.setValue(first));
    go.className = back.className = "live-run";
    go.setAttribute("aria-label", `Run cell ${i + 1}`);
    box.append(go, back);
    const { exercise } = cell.dataset;
    if (exercise) {
      const check = button("Check", "Run this cell and judge what it hands in", () => run(notebook, i, exercise));
      check.className = "live-run";
      check.setAttribute("aria-label", `Check ${document.getElementById(exercise).querySelector(".caption-number").textContent}`);
      go.after(check);
    }
    const note = () => {
      const text = editor.getValue();
      back.hidden = text === first;
      if (back.hidden) delete kept[first];
      else kept[first] = text;
      window.bookKept(shelf, JSON.stringify(kept));
    };
    if (kept[first]) editor.setValue(kept[first]);
    note();
    editor.on("change", note);
    for (let fold = box.closest("details"); fold; fold = fold.parentElement.closest("details"))
      fold.addEventListener("toggle", () => editor.refresh());
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      run(notebook, i);
    }, true);
    box.querySelectorAll("textarea").forEach((field) => field.setAttribute("aria-label", `Code of cell ${i + 1}`));
  });

  const start = button("Edit and run the code of this page", "", async () => {
    start.disabled = true;
    status.textContent = "Starting ...";
    try {
      const connected = await connect();
      controls(connected.notebook);
      whole(connected);
      start.remove();
      status.textContent = "Ready. Edit a cell, then Run or Shift-Enter; Escape leaves the editor.";
    } catch (error) {
      start.disabled = false;
      status.textContent = `The kernel could not be reached: ${error.message || error}`;
    }
  });
  if (!title) return;
  bar.append(start, " ", status);
  title.after(bar);
})();
