// Elements made of values. A text is always a text node: nothing that a store holds becomes markup.

const SVG = "http://www.w3.org/2000/svg";

export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

export function svg(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "title" || name === "aria-label") element.setAttribute(name, visible(String(value)));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

export function add(element, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(visible(String(child))));
  }
}

/** A text with signs for what overrides the direction of writing: a name must not look like another one. */
function visible(text) {
  return text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`);
}

/** A text as it is. */
export function exact(text) {
  return document.createTextNode(text);
}

export function show(element, ...children) {
  element.replaceChildren();
  add(element, children);
}

export function number(value) {
  return value.toLocaleString("en");
}

/** A path that may break after each folder. */
export function path(text) {
  return text.split(/(?<=\/)/).flatMap((part, at) => (at ? [h("wbr"), part] : [part]));
}

export function say(text) {
  document.getElementById("status").textContent = text;
}

/** A table in a region that scrolls by itself; `columns` are [title, cell of a row, class]. */
export function table(label, columns, rows, name = "") {
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    h("table", { class: name },
      h("thead", null, h("tr", null,
        columns.map(([title, , kind]) => h("th", { scope: "col", class: kind }, title)))),
      h("tbody", null, rows.map((row) => h("tr", { class: row.rowClass },
        columns.map(([, cell, kind], at) => at
          ? h("td", { class: kind }, cell(row))
          : h("th", { scope: "row" }, cell(row))))))));
}
