// The picture of a context: the same parts as in a report.

import { link } from "./address.js";
import { exact, h, number, path, svg, table } from "./dom.js";

const COLOURS = 12;
const PARTS = { pieces: "pieces", markers: "markers and headings", free: "free", exceeded: "over the budget" };
export const NOTES = {
  retrieve: "found by the sources", rank: "among the best", relevance: "likely to help",
  depth: "near enough to the budget", dedup: "repeat nothing", group: "within the limits of groups",
  pack: "fit the budget", fit: "fit as they are rendered", render: "are on the page",
};

export const isIn = (entry) => entry.verdict === "kept" || entry.verdict === "cut";
export const colour = (entry) => (entry.colour === null ? "" : `c${entry.colour % COLOURS}`);
export const place = (entry) => (entry.lines[0] ? `${entry.path}:${entry.lines[0]}-${entry.lines[1]}` : entry.path);
/** The first section of a view, which names it. */
export const page = (title, about, ...children) =>
  h("section", null, h("h1", { class: "title" }, title), about && h("p", { class: "about" }, about), children);
export const section = (title, about, ...children) =>
  h("section", null, h("h2", null, title), about && h("p", { class: "about" }, about), children);

/** What went wrong; its message says what to do as well. */
export const trouble = (problem, ...more) => h("section", { role: "alert" },
  h("h1", { class: "title" }, "That did not work"),
  h("p", { class: "bad" }, problem.message),
  problem.data?.request_id && h("p", { class: "about" }, `Request ${problem.data.request_id}`), more);

const signals = (entry) => Object.entries(entry.signals).sort().map(([name, value]) => `${name} ${number(value)}`).join(", ");
const partName = (part) => (part.kind === "reserved" ? `reserved for ${part.name}` : PARTS[part.kind]);

function bar(label, segments) {
  let at = 0;
  const drawn = segments.map(([width, kind, title]) => {
    const rect = svg("g", null, svg("title", null, title),
      svg("rect", { x: at, y: 0, width, height: 10, class: kind }));
    at += width;
    return rect;
  });
  return svg("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": label }, drawn);
}

export function budgetBar(parts) {
  const total = Math.max(1, parts.reduce((sum, part) => sum + part.tokens, 0));
  const words = parts.map((part) => `${partName(part)} ${number(part.tokens)}`);
  return [
    bar(`The window: ${words.join(", ")}`,
      parts.map((part, at) => [(100 * part.tokens) / total, `part-${part.kind}`, words[at]])),
    h("ul", { class: "legend" }, parts.map((part) =>
      h("li", null, h("span", { class: `swatch part-${part.kind}` }), `${partName(part)} `, h("b", null, number(part.tokens))))),
  ];
}

export function shares(title, listed, coloured) {
  const most = Math.max(1, ...listed.map((share) => share.tokens));
  const kind = (at) => (coloured ? `c${at % COLOURS}` : "part-pieces");
  return table(title, [
    [title, (share) => [h("span", { class: `swatch ${kind(listed.indexOf(share))}` }), path(share.name)]],
    ["share", (share) => bar(`${share.tokens} tokens`, [[(100 * share.tokens) / most, kind(listed.indexOf(share)), share.name]]), "wide"],
    ["tokens", (share) => number(share.tokens), "number"],
    ["pieces", (share) => share.pieces, "number"],
  ], listed, "shares");
}

export function flow(picture, times) {
  const ms = Object.fromEntries(times.map((each) => [each.step, each.ms]));
  const found = picture.found_by.map(([name, count]) => `${name} ${count}`).join(", ");
  if (picture.unlisted) {
    return section("Pipeline", null, h("p", null, `${picture.unlisted} candidates were left out; this receipt does not say at which step.`));
  }
  return section("Pipeline", "How many candidates each step let through, and how long it took.",
    h("ol", { class: "flow" }, picture.stages.map((stage) => h("li", null,
      h("span", { class: "step" }, stage.name),
      h("b", null, stage.after),
      stage.dropped > 0 && h("span", { class: "lost" }, `-${stage.dropped}`),
      h("span", { class: "note" }, NOTES[stage.name] ?? ""), ms[stage.name] !== undefined && h("span", { class: "note" }, `${ms[stage.name]} ms`)))),
    found && h("p", { class: "about" }, `Signals: ${found}.`));
}

export function header(picture, eyebrow, ...more) {
  const facts = [
    ["recipe", picture.recipe], ["model", picture.model],
    ["tokens", `${number(picture.tokens)} of ${number(picture.available)}`],
    ["pieces", `${picture.pieces.length} of ${picture.unlisted + picture.candidates.length} candidates`],
  ];
  return h("header", null,
    h("p", { class: "eyebrow" }, eyebrow),
    h("h1", null, picture.query),
    h("dl", { class: "facts" }, facts.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)))),
    picture.failed.map((failure) => h("p", { class: "bad" }, `failed: ${failure}`)), more);
}

/** The text, each line in the colour of its document; a click calls `choose` with its piece. */
export function contextText(data, choose, marks = {}) {
  return h("pre", { class: "context", tabindex: 0, role: "region", "aria-label": "Text of the context" }, data.spans.map((span) => {
    if (span.piece === null) return h("span", { class: "marker" }, exact(span.text));
    const { entry } = data.picture.pieces[span.piece];
    const mark = marks[entry.chunk_id] ?? "";
    return h("span", { class: `${colour(entry)} ${mark}`, title: place(entry), onclick: choose && (() => choose(span.piece)) }, exact(span.text));
  }));
}

export function pieceList(data, state, actions) {
  return h("ol", { class: "pieces" }, data.picture.pieces.map((piece, at) => {
    const { entry } = piece;
    const more = [piece.kind, piece.section, piece.level === "full" ? "" : piece.level].filter(Boolean);
    return h("li", { id: `piece-${at}`, tabindex: -1 },
      h("p", null,
        h("span", { class: `swatch ${colour(entry)}` }),
        h("a", { class: "place", href: sourceLink(entry, state) }, path(place(entry))),
        piece.title && h("span", { class: "title" }, piece.title),
        h("span", { class: "number" }, `${number(entry.tokens)} tokens`)),
      h("p", { class: "why" }, h("b", null, `${entry.verdict}: `),
        `${entry.reason || "in the context"}; score ${number(entry.score)}`,
        signals(entry) && ` (${signals(entry)})`, more.length > 0 && `; ${more.join(", ")}`),
      actions && actions(piece));
  }));
}

export function sourceLink(entry, state) {
  return link({ view: "source", path: entry.path, chunk: entry.chunk_id, viewer: state.viewer });
}

export function candidates(data, state, whyNot) {
  const names = data.picture.found_by.map(([name]) => name);
  const steps = [...new Set(data.picture.candidates.filter((entry) => !isIn(entry)).map((entry) => entry.step))];
  const place_ = h("div", null);
  const chosen = h("select", { id: "fell", onchange: draw },
    h("option", { value: "all" }, "all"), h("option", { value: "in" }, "in the context"),
    steps.map((step) => h("option", { value: step }, `fell at ${step}`)));
  const words = h("input", { id: "candidate-path", type: "search", oninput: draw });

  function draw() {
    const wanted = words.value.toLowerCase();
    const rows = data.picture.candidates.filter((entry) =>
      (chosen.value === "all" || (chosen.value === "in" ? isIn(entry) : !isIn(entry) && entry.step === chosen.value))
      && entry.path.toLowerCase().includes(wanted));
    const columns = [
      ["candidate", (entry) => [h("span", { class: `swatch ${colour(entry)}` }), h("a", { href: sourceLink(entry, state) }, path(place(entry)))]],
      ["score", (entry) => number(entry.score), "number"],
      ...names.map((name) => [name, (entry) => (entry.signals[name] === undefined ? "" : number(entry.signals[name])), "number"]),
      ["tokens", (entry) => number(entry.tokens), "number"],
      ["became", (entry) => [
        h("b", null, isIn(entry) ? entry.verdict : `fell at ${entry.step}`), `: ${entry.reason} `,
        whyNot && !isIn(entry) && h("button", { type: "button", class: "small", onclick: (event) => whyNot(entry, event.target) }, "why not?")]],
    ];
    place_.replaceChildren(h("p", { class: "about" }, `${rows.length} of ${data.picture.candidates.length} candidates`),
      table("Candidates", columns, rows, "candidates"));
  }
  draw();
  return section("Candidates", "Every candidate with its signals, and the step at which it fell.",
    h("div", { class: "row" }, h("label", { for: "fell" }, "Show", chosen), h("label", { for: "candidate-path" }, "Path contains", words)),
    place_);
}

export function verification(result) {
  const word = result.problems.length ? "does not hold" : result.holds ? "holds" : "agrees with itself";
  const kind = result.problems.length ? "bad" : result.holds ? "good" : "";
  return [
    h("p", null, "The receipt ", h("span", { class: `badge ${kind}` }, word), `; signature: ${result.signature}.`),
    h("ul", null,
      result.problems.map((line) => h("li", { class: "bad" }, line)),
      result.checked.map((line) => h("li", null, `checked: ${line}`)),
      result.not_checked.map((line) => h("li", null, `not checked: ${line}`))),
  ];
}

export function roots(picture) {
  return h("dl", { class: "roots" }, picture.roots.map(([name, value]) =>
    h("div", null, h("dt", null, name), h("dd", null, h("code", null, value)))));
}
