/* The perceptron's mistake bound on points that the reader moves: the same whole numbers and the same
   steps as in mllib.perceptron, and the widest margin by its conditions of optimality. */
"use strict";

(() => {
  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

  // Solve a small system by Gauss and Jordan; null if it has no single solution.
  const solve = (A, b) => {
    const rows = A.map((row, i) => [...row, b[i]]), n = rows.length;
    for (let c = 0; c < n; c++) {
      let best = c;
      for (let r = c; r < n; r++) if (Math.abs(rows[r][c]) > Math.abs(rows[best][c])) best = r;
      if (Math.abs(rows[best][c]) < 1e-9) return null;
      [rows[c], rows[best]] = [rows[best], rows[c]];
      rows[c] = rows[c].map((value) => value / rows[c][c]);
      for (let r = 0; r < n; r++)
        if (r !== c) rows[r] = rows[r].map((value, j) => value - rows[r][c] * rows[c][j]);
    }
    return rows.map((row) => row[n]);
  };

  // Weights of least norm with y x.w >= 1: some examples hold them, with forces that push outwards.
  const widest = (signed) => {
    const n = signed.length, sets = [];
    for (let i = 0; i < n; i++) {
      sets.push([i]);
      for (let j = i + 1; j < n; j++) {
        sets.push([i, j]);
        for (let k = j + 1; k < n; k++) sets.push([i, j, k]);
      }
    }
    for (const held of sets) {
      const force = solve(held.map((i) => held.map((j) => dot(signed[i], signed[j]))), held.map(() => 1));
      if (!force || force.some((value) => value < 0)) continue;
      const w = [0, 1, 2].map((c) => held.reduce((sum, i, h) => sum + force[h] * signed[i][c], 0));
      if (signed.every((z) => dot(z, w) >= 1 - 1e-9)) return w;
    }
    return null;
  };

  const judged = (points, {one, passes}) => {
    const X = points.map(([u, v]) => [one, u, v]), y = points.map((point) => point[2]);
    let w = [0, 0, 0], mistakes = 0, clean = false;
    const wrong = new Set();
    for (let pass = 0; pass < passes && !clean; pass++) {
      clean = true;
      X.forEach((x, i) => {
        if (y[i] * dot(w, x) > 0) return;
        w = w.map((value, c) => value + y[i] * x[c]);
        mistakes++;
        wrong.add(i);
        clean = false;
      });
    }
    const signed = X.map((x, i) => x.map((value) => y[i] * value)), best = widest(signed);
    if (!best) return {mistakes, wrong, line: w, bound: null, widest: null};
    const margin = Math.min(...signed.map((z) => dot(z, best)));
    const bound = Math.max(...X.map((x) => dot(x, x))) * dot(best, best) / margin ** 2;
    return {mistakes, wrong, line: w, bound, widest: best};
  };
  window.bookTheorem = judged; // compared with the library by the tests

  const spaced = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");

  const start = (box) => {
    const about = JSON.parse(box.dataset.theorem), {reach, step, one, dropped, passes} = about;
    const svg = box.querySelector("svg"), marks = [...svg.querySelectorAll(".point")];
    const drop = box.querySelector(".theorem-drop"), text = box.querySelector(".verdict-text");
    const chip = box.querySelector(".verdict");
    let points = about.points.map((point) => [...point]), home = null, due = false;

    const path = (w) => {
      if (!w || !(w[1] || w[2])) return "";
      const size = w[1] ** 2 + w[2] ** 2, far = 200 / Math.sqrt(size);
      const ends = [-far, far].map((t) => [
        (reach[0] - one * w[0] * w[1] / size - w[2] * t) * step,
        (reach[1] + one * w[0] * w[2] / size - w[1] * t) * step]);
      return `M${ends.map((end) => end.map((value) => value.toFixed(1))).join("L")}`;
    };

    const draw = () => {
      due = false;
      const found = judged(points, about);
      marks.forEach((mark, i) => {
        const [u, v, label] = points[i];
        mark.setAttribute("transform", `translate(${(reach[0] + u) * step},${(reach[1] - v) * step})`);
        mark.querySelector(".ring").classList.toggle("off", !found.wrong.has(i));
        mark.setAttribute("aria-label", `${label > 0 ? "Disc" : "Square"} at ${u}, ${v}`);
      });
      svg.querySelector(".final").setAttribute("d", path(found.line));
      svg.querySelector(".widest").setAttribute("d", path(found.widest));
      const good = found.bound !== null, k = found.mistakes;
      box.classList.toggle("fails", !good);
      chip.className = `verdict verdict-${good ? "holds" : "fails"}`;
      chip.textContent = good ? "holds" : "fails";
      const bound = !good ? "" : found.bound < 1000 ? found.bound.toFixed(1) : spaced(Math.round(found.bound));
      text.textContent = good
        ? `${k} ${k === 1 ? "mistake" : "mistakes"}, and the bound R²‖w*‖²/γ² allows ${bound}`
        : `no line separates the classes: ${spaced(k)} mistakes in ${spaced(passes)} passes, and no end`;
    };
    const later = () => {
      if (!due) window.requestAnimationFrame(draw);
      due = true;
    };

    const within = (value, most) => Math.max(-most, Math.min(most, Math.round(value)));
    const move = (i, u, v) => {
      points[i] = [within(u, reach[0] - 2), within(v, reach[1] - 2), points[i][2]];
      later();
    };
    const arrows = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};
    marks.forEach((mark, i) => {
      mark.setAttribute("tabindex", "0");
      mark.setAttribute("role", "button");
      mark.setAttribute("aria-roledescription", "movable point");
      mark.addEventListener("keydown", (event) => {
        const way = arrows[event.key], far = event.shiftKey ? 5 : 1;
        if (!way) return;
        event.preventDefault();
        move(i, points[i][0] + far * way[0], points[i][1] + far * way[1]);
      });
      mark.addEventListener("pointerdown", (event) => {
        mark.setPointerCapture(event.pointerId);
        mark.focus({preventScroll: true});
        event.preventDefault();
      });
      mark.addEventListener("pointermove", (event) => {
        if (!mark.hasPointerCapture(event.pointerId)) return;
        const frame = svg.getBoundingClientRect(), wide = 2 * reach[0] / frame.width;
        move(i, (event.clientX - frame.left) * wide - reach[0], reach[1] - (event.clientY - frame.top) * wide);
      });
    });

    const press = (yes) => {
      drop.setAttribute("aria-pressed", yes);
      const [i, u, v] = dropped;
      if (yes) home = points[i];
      points[i] = yes ? [u, v, points[i][2]] : home || points[i];
      later();
    };
    drop.addEventListener("click", () => press(drop.getAttribute("aria-pressed") !== "true"));
    box.querySelector(".theorem-reset").addEventListener("click", () => {
      drop.setAttribute("aria-pressed", false);
      points = about.points.map((point) => [...point]);
      later();
    });
    draw();
  };
  for (const box of document.querySelectorAll("[data-theorem]")) start(box);
})();
