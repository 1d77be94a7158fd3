/* make live: the cells of a page can be edited and run, in a kernel on this machine. Thebe
   (live/thebe) is loaded by the first click; until then this is one button. */
"use strict";

(() => {
  const { root, baseUrl, token } = window.bookLive;
  const cells = [...document.querySelectorAll(".cell")].filter((c) => c.querySelector(".cell_input pre"));
  const title = document.querySelector(".bd-article h1");
  if (!cells.length || !title) return;

  const bar = document.createElement("p");
  bar.className = "live-bar";
  bar.innerHTML = '<button type="button" class="live-start">Edit and run the code of this page</button> <span role="status"></span>';
  title.after(bar);
  const [button, status] = bar.children;

  const load = (tag, options) => new Promise((done, failed) => {
    const part = Object.assign(document.createElement(tag), options, { onload: done });
    part.onerror = () => failed(new Error(`${options.src || options.href} was not found`));
    document.head.append(part);
  });

  // Each opened page has a session of its own: no name of one page is known on another.
  const own = `${window.location.pathname.replace(/\W+/g, "-")}-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;

  // Thebe pairs the n-th source with the n-th output.
  const prepare = () => cells.forEach((cell) => {
    cell.querySelectorAll("details").forEach((fold) => { fold.open = true; });
    cell.querySelectorAll(".copybtn").forEach((copy) => copy.remove());
    const source = cell.querySelector(".cell_input pre");
    source.dataset.liveSource = "";
    source.dataset.language = "python";
    let output = cell.querySelector(".cell_output");
    if (!output) {
      output = cell.appendChild(document.createElement("div"));
      output.className = "cell_output docutils container";
    }
    output.dataset.liveOutput = "";
  });

  const connect = async () => {
    await load("link", { rel: "stylesheet", href: `${root}live/thebe/thebe.css` });
    await load("script", { src: `${root}live/thebe/index.js` });
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
    notebook.rendermime.removeMimeType("text/markdown"); // claims show their plain text: nothing typesets formulas here
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

  // A cell is run after the cells before it that have not run yet, one after the other.
  const ran = new Set();
  let queue = Promise.resolve();
  const run = (notebook, last) => {
    queue = queue.then(async () => {
      for (let i = 0; i <= last; i += 1) {
        if (i < last && ran.has(i)) continue;
        status.textContent = `Running cell ${i + 1} of ${cells.length} ...`;
        const cell = notebook.cells[i];
        const result = await cell.execute(cell.source);
        cells[i].classList.add("live-ran");
        if (result && result.error) {
          status.textContent = `Cell ${i + 1} ended in an error.`;
          return;
        }
        ran.add(i);
      }
      status.textContent = `Cell ${last + 1} ran.`;
    });
    return queue;
  };

  const all = async (notebook) => {
    ran.clear();
    await run(notebook, cells.length - 1);
    if (ran.size === cells.length) status.textContent = `All ${cells.length} cells ran.`;
  };

  const whole = ({ notebook, session }) => {
    const add = (name, title, act) => {
      const made = document.createElement("button");
      Object.assign(made, { type: "button", textContent: name, title });
      made.addEventListener("click", act);
      status.before(made, " ");
    };
    add("Run all", "Run every cell of this page, from the first", () => all(notebook));
    add("Restart", "Forget every name; the outputs stay until cells run again", () => {
      queue = queue.then(async () => {
        status.textContent = "Restarting ...";
        await session.restart();
        ran.clear();
        cells.forEach((cell) => cell.classList.remove("live-ran"));
        status.textContent = "Restarted: no cell has run.";
      });
    });
  };

  const controls = (notebook) => cells.forEach((cell, i) => {
    const box = cell.querySelector(".thebe-cell");
    const go = document.createElement("button");
    go.type = "button";
    go.className = "live-run";
    go.textContent = "Run";
    go.title = "Run this cell, and first the cells above that have not run (Shift-Enter)";
    go.setAttribute("aria-label", `Run cell ${i + 1}`);
    go.addEventListener("click", () => run(notebook, i));
    box.append(go);
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      run(notebook, i);
    }, true);
    box.querySelectorAll("textarea").forEach((field) => field.setAttribute("aria-label", `Code of cell ${i + 1}`));
  });

  button.addEventListener("click", async () => {
    button.disabled = true;
    status.textContent = "Starting ...";
    try {
      const connected = await connect();
      controls(connected.notebook);
      whole(connected);
      button.remove();
      status.textContent = "Ready. Edit a cell, then Run or Shift-Enter; Escape leaves the editor.";
    } catch (error) {
      button.disabled = false;
      status.textContent = `The kernel could not be reached: ${error.message || error}`;
    }
  });
})();
