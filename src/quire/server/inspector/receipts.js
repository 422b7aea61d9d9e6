// Receipts that the service keeps: one of them, or two side by side.

import { go, link, reader } from "./address.js";
import { get, post } from "./api.js";
import { h, number, show, table } from "./dom.js";
import { receiptSection } from "./ask.js";
import { budgetBar, candidates, contextText, flow, header, page, pieceList, place, section, shares } from "./draw.js";

const moment = (at) => new Date(at * 1000).toISOString().slice(0, 19).replace("T", " ");

export async function receipts(main, state) {
  if (state.id) return drawOne(main, state);
  const listed = await get("/v1/receipts", { limit: 50, ...(state.cursor ? { cursor: state.cursor } : {}), ...reader(state) });
  show(main, page("Receipts", "Of the contexts that were assembled for you, the newest first.",
    listed.items.length === 0
      ? h("p", null, "None yet: ask something.")
      : table("Receipts", [
        ["question", (row) => h("a", { href: link({ view: "receipts", id: row.id, viewer: state.viewer }) }, row.query || "not known")],
        ["recipe", (row) => row.recipe || "-"],
        ["tokens", (row) => (row.tokens === null ? "-" : `${number(row.tokens)} of ${number(row.available)}`), "number"],
        ["made (UTC)", (row) => moment(row.at), "number"],
        ["receipt", (row) => h("code", null, row.id.slice(0, 16))],
        ["with another", (row) => h("a", { href: link({ view: "compare", a: row.id, viewer: state.viewer }) }, "compare")],
      ], listed.items, "receipts"),
    listed.next && h("p", null, h("a", { href: link({ view: "receipts", cursor: listed.next, viewer: state.viewer }) }, "Older ones"))));
  return undefined;
}

async function drawOne(main, state) {
  const data = await post("/v1/picture", { receipt: state.id, ...reader(state) });
  const { picture } = data;
  show(main,
    header(picture, "Receipt", h("p", null, h("a", { href: link({ view: "ask", q: picture.query, recipe: picture.recipe, budget: picture.total, viewer: state.viewer }) }, "Ask again"))),
    section("Budget", null, budgetBar(picture.budget),
      picture.sections.length > 0 && shares("By section", picture.sections, false), shares("By document", picture.documents, true)),
    receiptSection(data, state),
    h("div", { class: "columns" },
      section("Context", "To the byte, coloured by source.", contextText(data)),
      section("Pieces", "In reading order, and why each is there.", pieceList(data, state))),
    flow(picture, data.times), candidates(data, state));
}

/** A receipt in a list of choices. */
function named(item) {
  const facts = [item.query?.slice(0, 60), item.recipe, item.tokens !== null && `${number(item.tokens)} tokens`, moment(item.at), item.id.slice(0, 12)];
  return facts.filter(Boolean).join(" · ");
}

export async function compare(main, state) {
  const listed = await get("/v1/receipts", { limit: 100, ...reader(state) });
  const choice = (name, label) => h("label", { for: `receipt-${name}` }, label,
    h("select", { id: `receipt-${name}`, onchange: (event) => go({ ...state, [name]: event.target.value }) },
      h("option", { value: "" }, "choose a receipt"),
      [...new Set([state[name], ...listed.items.map((item) => item.id)])].filter(Boolean).map((id) => {
        const item = listed.items.find((each) => each.id === id);
        return h("option", { value: id, selected: id === state[name] }, item ? named(item) : id.slice(0, 12));
      })));
  const chooser = page("Compare", "Two contexts side by side.", h("div", { class: "row" }, choice("a", "Left"), choice("b", "Right")));
  show(main, chooser);
  if (!state.a || !state.b) return;
  const more = reader(state);
  const [left, right, { differences }] = await Promise.all([
    post("/v1/picture", { receipt: state.a, ...more }),
    post("/v1/picture", { receipt: state.b, ...more }),
    post("/v1/diff", { old: state.a, new: state.b, ...more }),
  ]);
  const ids = (data) => new Set(data.picture.pieces.map((piece) => piece.entry.chunk_id));
  const [inLeft, inRight] = [ids(left), ids(right)];
  const side = (data, others, word) => {
    const only = data.picture.pieces.filter((piece) => !others.has(piece.entry.chunk_id));
    const marks = Object.fromEntries(only.map((piece) => [piece.entry.chunk_id, "only"]));
    return section(data.picture.query, `${data.picture.recipe}, ${number(data.picture.tokens)} of ${number(data.picture.available)} tokens, ${data.picture.pieces.length} pieces`,
      budgetBar(data.picture.budget),
      h("h3", null, `Only ${word}: ${only.length}`),
      h("ul", { class: "moves" }, only.map((piece) => h("li", null, place(piece.entry)))),
      contextText(data, null, marks));
  };
  show(main, chooser,
    h("div", { class: "columns even" }, side(left, inRight, "left"), side(right, inLeft, "right")),
    section("What differs in the receipts", null, differences.length
      ? h("details", { open: differences.length < 12 }, h("summary", null, `${differences.length} differences`),
        h("ul", null, differences.map((line) => h("li", null, line))))
      : h("p", null, "Nothing differs.")));
}
