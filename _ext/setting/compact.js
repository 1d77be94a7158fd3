/* The boxes that KaTeX lays out, with fewer elements and in the same places: a page of formulas opens
   with a third of them. Four things go: elements that only name a kind of atom, which no style asks for;
   spaces, which become the margin of their neighbour; the table around a lone exponent or index, which
   becomes a box moved up or down; and the lower row of other tables, whose depth the strut has already. */
const KINDS = new Set("mord mbin mrel mopen mclose mpunct minner mop mtight text".split(" "));
/* What these hold is placed by their place among siblings: it stays an element of its own. */
const FIRM = /^(vlist|delimsizing|delim-size.*|clap|rlap|llap|accent-body|svg-align|hide-tail|katex-.*|mtable|col-align-.*|sqrt|mfrac|.*overline|.*underline)$/;

const em = (text) => parseFloat(text || "0");
const ems = (number) => `${+number.toFixed(4)}em`;
const bare = (style) => !Object.values(style || {}).some(Boolean);
const isLetter = (node) => typeof node.text === "string" && Array.isArray(node.classes);
const isBox = (node) => Array.isArray(node.children) && Array.isArray(node.classes);
const isSpan = (node) => isBox(node) && !!node.attributes;
const named = (node, ...names) => isBox(node) && names.every((name) => node.classes.includes(name));

/* A lone box of a vertical list and how far it is moved up, or null. */
const lone = (list) => {
  if (!named(list, "vlist-t") || list.children.length > 2) return null;
  const cell = list.children[0].children[0];
  if (!named(cell, "vlist") || cell.children.length !== 1) return null;
  const [moved] = cell.children;
  if (moved.classes.length || moved.children.length !== 2 || !named(moved.children[0], "pstrut")) return null;
  const {top, marginLeft, marginRight, ...others} = moved.style;
  if (!bare(others)) return null;
  return {inner: moved.children[1], up: -em(top) - em(moved.children[0].style.height), marginLeft, marginRight};
};

/* The pieces that stand for a box: itself, or what it holds. */
const pieces = (node, firm) => {
  if (isLetter(node)) {
    const wanted = node.classes.filter((name) => name && !KINDS.has(name));
    if (wanted.length || !firm) node.classes = wanted;
    return [node];
  }
  if (!isBox(node)) return [node];
  if (!isSpan(node)) return node.children.flatMap((child) => pieces(child, firm));
  if (named(node, "vlist-t", "vlist-t2") && node.children.length === 2) {
    node.classes = node.classes.filter((name) => name !== "vlist-t2");
    node.children = [node.children[0]];
    node.children[0].children = node.children[0].children.slice(0, 1);
  }
  if (named(node, "msupsub") && node.children.length === 1 && bare(node.style)) {
    const found = lone(node.children[0]);
    if (found) {
      node.classes = ["shift"];
      node.children = [found.inner];
      node.style = {top: ems(-found.up)};
      for (const side of ["marginLeft", "marginRight"]) if (found[side]) node.style[side] = found[side];
    }
  }
  const inner = node.classes.some((name) => FIRM.test(name)) && !named(node, "katex-sizing")
    && !named(node, "katex-base") || (!node.classes.length && firm);
  node.children = joined(node.children.flatMap((child) => pieces(child, inner)));
  if (named(node, "katex-sizing") && node.children.length === 1 && bare(node.style)) {
    const [letter] = node.children, size = node.classes.filter((name) => !KINDS.has(name));
    if (isLetter(letter) && !letter.classes.some((name) => /^(delim|size|op-|.*-op)/.test(name))) {
      letter.classes = [...size, ...letter.classes];
      return [letter];
    }
  }
  const free = !firm && bare(node.style) && !Object.keys(node.attributes).length;
  if (free && node.classes.every((name) => !name || KINDS.has(name))) return node.children;
  const kept = node.classes.filter((name) => name && !KINDS.has(name));
  if (kept.length) node.classes = kept;
  return [node];
};

/* Siblings, their spaces given to neighbours that are elements anyway. */
const space = (node) => isSpan(node) && node.classes.join(" ") === "mspace" && !node.children.length
  && Object.keys(node.style).every((side) => side === "marginRight");
const taken = (node, width) => {
  if (isLetter(node) && node.classes.length && !node.classes.includes("katex-sizing")) {
    if (node.style.marginRight || node.italic + width < 0) return false;
    node.italic = Math.max(node.italic, 0) + width;
    return true;
  }
  if (!named(node, "shift")) return false;
  node.style.marginRight = ems(em(node.style.marginRight) + width);
  return true;
};
const joined = (nodes) => {
  const out = [];
  for (const node of nodes) {
    const before = out.at(-1), width = space(node) ? em(node.style.marginRight) : 0;
    if (!space(node) || !before) out.push(node);
    else if (space(before)) before.style.marginRight = ems(em(before.style.marginRight) + width);
    else if (taken(before, width)) continue;
    else if (isLetter(before) && !before.classes.length && !before.italic && width > 0 && space(out.at(-2) || before)) {
      before.style = {...before.style, marginLeft: out.at(-2).style.marginRight};
      before.italic = width;
      out.splice(-2, 1);
    } else out.push(node);
  }
  return out;
};

/* MathML without rows of one. */
const rowless = (node) => {
  if (!Array.isArray(node.children)) return node;
  node.children = node.children.map(rowless);
  const row = node.type === "mrow" && !Object.keys(node.attributes).length && !node.classes.length;
  return row && node.children.length === 1 ? node.children[0] : node;
};

function compact(tree) {
  if (named(tree, "katex-display")) tree.children.forEach(compact);
  for (const half of tree.children) {
    if (named(half, "katex-mathml")) half.children = half.children.map(rowless);
    if (named(half, "katex-html"))
      for (const base of half.children) if (named(base, "katex-base")) pieces(base, true);
  }
  return tree;
}
