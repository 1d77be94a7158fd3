/* The boxes that KaTeX lays out, with fewer elements and in the same places: a page of formulas opens
   with a third of them. What goes: elements that only name a kind of atom, which no style asks for;
   spaces, which become the margin of their neighbour; the table around a lone exponent or index, which
   becomes a box moved up or down; the lower row of other tables, whose depth the strut has already; and
   the strut, which the style sheet draws from two numbers. */
const KINDS = new Set("mord mbin mrel mopen mclose mpunct minner mop mtight text".split(" "));
/* What these hold is placed by their place among siblings: it stays an element of its own. */
const FIRM = /^(vlist|delimsizing|delim-size.*|clap|rlap|llap|svg-align|hide-tail|katex-.*|mtable|col-align-.*|sqrt|mfrac|.*overline|.*underline)$/;

const em = (text) => parseFloat(text || "0");
const ems = (number) => `${+number.toFixed(4)}em`;
const bare = (style) => !Object.values(style || {}).some(Boolean);
const isLetter = (node) => typeof node.text === "string" && Array.isArray(node.classes);
const isBox = (node) => !!node && Array.isArray(node.children) && Array.isArray(node.classes);
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

/* How large the letters of a box are in those around it; 0 where that is not known. */
const SIZES = [0, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.44, 1.728, 2.074, 2.488];
const scale = (classes) => {
  const sizes = /\breset-size(\d+) size(\d+)\b/.exec(classes.join(" "));
  if (!classes.includes("katex-sizing")) return classes.some((name) => /size/.test(name)) ? 0 : 1;
  return sizes ? SIZES[sizes[2]] / SIZES[sizes[1]] : 0;
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
      const [inner, ...more] = pieces(found.inner, true), ratio = scale(inner.classes || []);
      if (!more.length && ratio && (isLetter(inner) || isSpan(inner)) && !inner.style.top) {
        inner.classes = ["shift", ...inner.classes];
        inner.style = {...inner.style, top: ems(-found.up / ratio)};
        if (em(found.marginLeft)) inner.style.marginLeft = ems(em(found.marginLeft) / ratio);
        taken(inner, em(found.marginRight));
        return [inner];
      }
      node.classes = ["shift"];
      node.children = [inner, ...more];
      node.style = {top: ems(-found.up)};
      for (const side of ["marginLeft", "marginRight"]) if (found[side]) node.style[side] = found[side];
      return [node];
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
  const ratio = scale(node.classes || []);
  if (!ratio) return false;
  if (isLetter(node)) {
    if (!node.classes.length || node.style.marginRight || Math.max(node.italic, 0) + width < 0) return false;
    node.italic = Math.max(node.italic, 0) + width / ratio;
    return true;
  }
  if (!isSpan(node) || !node.classes.length || node.classes.some((name) => NOT_INLINE.test(name))) return false;
  node.style = {...node.style, marginRight: ems(em(node.style.marginRight) + width / ratio)};
  return true;
};
const NOT_INLINE = /^(katex-(strut|base|thinbox|vbox|smash|inner|fix)|vlist.*|.lap|mspace|nulldelimiter|pstrut)$/;
const led = (node, width) => {
  const ratio = isLetter(node) && node.classes.length ? scale(node.classes) : 0;
  if (!ratio || node.style.marginLeft) return false;
  node.style = {...node.style, marginLeft: ems(width / ratio)};
  return true;
};
const joined = (nodes) => {
  const out = [];
  for (const node of nodes) {
    const before = out.at(-1), width = space(node) ? em(node.style.marginRight) : 0;
    if (named(node, "nulldelimiter") && named(before, "mfrac") && node.classes.length === 1 && taken(before, 0.12)) continue;
    if (named(node, "mfrac") && named(before, "nulldelimiter") && before.classes.length === 1 && !node.style.marginLeft) {
      node.style = {...node.style, marginLeft: "0.12em"};
      out.splice(-1, 1, node);
    } else if (before && space(before) && !space(node) && led(node, em(before.style.marginRight))) out.splice(-1, 1, node);
    else if (!space(node) || !before) out.push(node);
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
      for (const base of half.children) if (named(base, "katex-base")) {
        pieces(base, true);
        const [strut, ...others] = base.children;
        if (!named(strut, "katex-strut")) continue;
        base.style = {...base.style, "--h": strut.style.height};
        if (strut.style.verticalAlign) base.style["--d"] = strut.style.verticalAlign;
        base.children = others;
      }
  }
  return tree;
}
