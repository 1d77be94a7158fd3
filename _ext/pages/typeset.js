/* Typesets formulas with KaTeX, for formulas.py; its tree is changed before it becomes HTML. */
"use strict";

const tree = (tex, display) => katex.__renderToDomTree(tex, {
  displayMode: display, output: "htmlAndMathml", throwOnError: true, trust: false,
  // Letters outside ASCII are fine; whatever else LaTeX would reject is an error here too.
  strict: (code) => code === "unicodeTextInMathMode" ? "ignore" : "error",
});
// What is heard, as MathML, and what is seen.
const halves = (whole) => (whole.classes.includes("katex") ? whole : whole.children[0]).children;
const span = (kind, children) => new katex.__domTree.Span([kind], children);
const letters = (node) => node.text ? node.text.replace(/[\s\u200b]/g, "").length
  : (node.children || []).reduce((sum, child) => sum + letters(child), 0);

// Rows of cells, each typeset by itself; a row of a phone holds 30 letters.
const table = (rows) => {
  const cells = rows.map((row) => row.map((tex) => tex ? halves(tree(tex, true))[1].children : []));
  const columns = Math.max(...rows.map((row) => row.length));
  const widest = Math.max(...cells.map((row) => letters({children: row.flat()})));
  return span(`katex-rows columns-${columns}${widest > 30 || columns > 2 ? " long" : ""}`,
    cells.map((row) => span("katex-row", row.map((cell, i) =>
      span(`katex-cell ${i % 2 ? "right" : "left"}${i > 1 ? " further" : ""}`, cell)))));
};

function typeset({tex, shown, display, held, rows, mathml}) {
  try {
    const whole = tree(shown || tex, display), [heard, seen] = halves(whole);
    const meaning = heard.children[0].children[0].children; // the formula, then its TeX
    meaning[1].children[0].text = tex;
    if (mathml) {
      meaning.pop();
      return {html: heard.children[0].toMarkup()};
    }
    if (held && seen.children.length > 1)
      seen.children.push(span("katex-last", seen.children.splice(-1)));
    if (rows) seen.children = [table(rows)];
    return {html: whole.toMarkup()};
  } catch (error) {
    return {error: String(error.message || error)};
  }
}
