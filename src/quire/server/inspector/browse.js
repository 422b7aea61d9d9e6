// Memories, experiences, values, rules and blocks.

import { link, reader } from "./address.js";
import { get, Problem } from "./api.js";
import { h, show, table } from "./dom.js";
import { page } from "./draw.js";

const list = (values) => (values ?? []).join(", ");
const KINDS = {
  memories: ["/v1/memories", [
    ["memory", (row) => row.content], ["category", (row) => row.category], ["importance", (row) => row.importance, "number"],
    ["author", (row) => row.author], ["readers", (row) => list(row.share)], ["created", (row) => row.created]]],
  experiences: ["/v1/experiences", [
    ["goal", (row) => row.goal], ["domain", (row) => row.domain], ["strategy", (row) => row.strategy], ["outcome", (row) => row.outcome],
    ["surprise", (row) => row.surprise], ["lesson", (row) => row.lesson], ["author", (row) => row.author]]],
  values: ["/v1/values", [
    ["principle", (row) => row.text ?? row.label ?? row.id], ["axis", (row) => row.axis], ["members", (row) => (row.members ?? []).length, "number"],
    ["similarity", (row) => row.similarity, "number"]]],
  rules: ["/v1/rules", null],
  blocks: ["/v1/blocks", [
    ["block", (row) => `${"— ".repeat(row.depth)}${row.block.text}`], ["type", (row) => row.block.type],
    ["author", (row) => row.block.author], ["id", (row) => row.block.id]]],
};

export async function browse(main, state) {
  const kind = Object.hasOwn(KINDS, state.kind) ? state.kind : "memories";
  const tabs = h("nav", { class: "tabs", "aria-label": "What to browse" }, Object.keys(KINDS).map((name) =>
    h("a", { href: link({ view: "browse", kind: name, viewer: state.viewer }), "aria-current": name === kind ? "page" : null }, name)));
  const [path, columns] = KINDS[kind];
  let shown;
  try {
    const data = await get(path, { ...(columns ? { limit: 100 } : {}), ...(state.cursor ? { cursor: state.cursor } : {}), ...reader(state) });
    shown = columns ? drawPage(kind, columns, data, state) : drawTree(data);
  } catch (problem) {
    if (!(problem instanceof Problem) || problem.status === 401) throw problem;
    shown = h("p", { class: "bad" }, problem.message);
  }
  show(main, tabs, page(kind[0].toUpperCase() + kind.slice(1), null, shown));
}

function drawPage(kind, columns, listed, state) {
  if (listed.items.length === 0) return h("p", null, `There are no ${kind} that you may read.`);
  return [table(kind, columns, listed.items),
    listed.next && h("p", null, h("a", { href: link({ ...state, cursor: listed.next }) }, "More"))];
}

/** Any value as nested lists: what context files hold differs from one to the next. */
function drawTree(value) {
  if (value === null || value === "") return h("span", { class: "about" }, "-");
  if (typeof value !== "object") return h("span", null, String(value));
  const entries = Object.entries(value).filter(([, each]) => !(each === null || each === "" || (typeof each === "object" && Object.keys(each).length === 0)));
  if (entries.length === 0) return h("p", null, "Nothing applies here.");
  return h("dl", { class: "tree" }, entries.map(([name, each]) => h("div", null, h("dt", null, name), h("dd", null, drawTree(each)))));
}
