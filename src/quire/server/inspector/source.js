// A source, open at its lines.

import { reader } from "./address.js";
import { get } from "./api.js";
import { exact, h, show } from "./dom.js";
import { page } from "./draw.js";

export async function source(main, state) {
  const chunks = [];
  let cursor = null;
  do {
    const listed = await get("/v1/chunks", { path: state.path ?? "", limit: 1000, ...(cursor ? { cursor } : {}), ...reader(state) });
    chunks.push(...listed.items);
    cursor = listed.next;
  } while (cursor);
  if (chunks.length === 0) {
    show(main, page("Source", null, h("p", null, `There is nothing at ${state.path ?? ""} that you may read.`)));
    return;
  }
  let at = chunks[0].lines[0];
  const parts = chunks.map((chunk) => {
    const isChosen = chunk.id === state.chunk;
    const lines = chunk.text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    const first = chunk.lines[0] || at;
    at = first + lines.length;
    return h("div", { class: isChosen ? "chosen" : null, id: isChosen ? "chosen" : null, tabindex: isChosen ? -1 : null },
      lines.map((line, number) => h("div", { class: "line" },
        chunk.lines[0] ? h("span", { class: "lineno", "aria-hidden": "true" }, first + number) : null, h("span", null, exact(line || " ")))));
  });
  show(main, h("section", null, h("h1", { class: "place" }, state.path),
    h("p", { class: "about" }, `${chunks.length} pieces${chunks[0].title ? ` · ${chunks[0].title}` : ""}`),
    h("div", { class: "source", tabindex: 0, role: "region", "aria-label": `Text of ${state.path}` }, parts)));
  const chosen = document.getElementById("chosen");
  chosen?.scrollIntoView({ block: "center" });
  chosen?.focus({ preventScroll: true });
}
