// Ask: a question, its context, and what the budget does to it.

import { go, link, QUESTION, request } from "./address.js";
import { post, Problem } from "./api.js";
import { h, number, say, show } from "./dom.js";
import { budgetBar, candidates, contextText, flow, header, pieceList, place, roots, section, shares, trouble, verification } from "./draw.js";

export async function ask(main, state, me, failed) {
  const result = h("div", { id: "result", "aria-live": "off" });
  show(main, !state.q && h("h1", { class: "title" }, "Ask"), form(state, me), result);
  if (!state.q) {
    main.querySelector("#q").focus();
    return undefined;
  }
  show(result, h("p", { class: "about", role: "status" }, "Assembling …"));
  const stop = new AbortController();
  // The form and the question stay: what was wrong is often one of their fields.
  post("/v1/inspect", request(state), stop.signal).then((data) => drawContext(result, data, state, me)).catch((problem) => {
    if (problem instanceof Problem && problem.status === 401) failed(problem);
    else if (problem.name !== "AbortError") show(result, trouble(problem));
  });
  return () => stop.abort();
}

function form(state, me) {
  const field = (name, label, control) => h("label", { for: name, class: `field-${name}` }, label, control);
  const input = (name, more) => h("input", { id: name, name, value: state[name] ?? "", ...more });
  return h("form", { class: "ask", role: "search", onsubmit: (event) => {
    event.preventDefault();
    const typed = Object.fromEntries(new FormData(event.target));
    go({ view: "ask", ...Object.fromEntries(QUESTION.map((name) => [name, (typed[name] ?? "").trim()])) });
  } },
  field("q", "Question", input("q", { required: true, autocomplete: "off" })),
  field("recipe", "Recipe", h("select", { id: "recipe", name: "recipe" }, h("option", { value: "" }, "default"),
    me.recipes.map((name) => h("option", { value: name, selected: name === state.recipe }, name)))),
  field("budget", "Budget", input("budget", { type: "number", min: 1, placeholder: "recipe's" })),
  field("model", "Model", input("model", { placeholder: "o200k" })),
  me.may_choose_viewer && field("viewer", "Read as", input("viewer", { placeholder: "owner", autocomplete: "off" })),
  h("details", { open: QUESTION.slice(5).some((name) => state[name]) }, h("summary", null, "Filters"),
    h("div", { class: "row" },
      field("paths", "Paths", input("paths", { placeholder: "docs/**, *.md" })),
      field("kinds", "Kinds", input("kinds", { placeholder: "document, code" })),
      field("since", "Since", input("since", { placeholder: "2026-01-31" })),
      field("until", "Until", input("until", { placeholder: "2026-12-31" })),
      field("where", "Metadata", input("where", { placeholder: 'team = "north" and priority >= 3' })))),
  h("button", { type: "submit" }, "Ask"));
}

function drawContext(result, data, state, me) {
  const { picture } = data;
  const chosen = (at) => {
    const item = document.getElementById(`piece-${at}`);
    item.scrollIntoView({ block: "nearest" });
    item.focus({ preventScroll: true });
  };
  show(result,
    header(picture, "Context", data.notes.map((note) => h("p", { class: "about" }, note))),
    section("Budget", null, budgetView(data, state),
      picture.sections.length > 0 && shares("By section", picture.sections, false),
      shares("By document", picture.documents, true)),
    h("div", { class: "columns" },
      section("Context", "To the byte, coloured by source. Click a line to see why it is there.", contextText(data, chosen)),
      section("Pieces", "In reading order, and why each is there.",
        picture.pieces.length ? pieceList(data, state, me.may_write && ((piece) => feedback(data, piece, state))) : h("p", null, "The context has no piece."))),
    flow(picture, data.times),
    candidates(data, state, (entry, button) => whyNot(entry, button, state)),
    receiptSection(data, state));
}

// --- the budget ---------------------------------------------------------------------------------

function budgetView(data, state) {
  const { picture } = data;
  const reserved = picture.total - picture.available;
  const most = Math.max(2 * picture.total, reserved + 1000);
  const step = Math.max(10, 10 * Math.round(most / 2000));
  const bars = h("div", null, budgetBar(picture.budget));
  const moved = h("div", { class: "moved", "aria-live": "polite" }, h("p", { class: "about" }, "Drag to see which pieces enter and leave."));
  const shown = h("output", { for: "slider" }, number(picture.total));
  const use = h("button", { type: "button", hidden: true, onclick: () => go({ ...state, budget: slider.value }) }, "Assemble with this budget");
  const known = new Map();
  let waiting = null;
  let running = false;

  const slider = h("input", { id: "slider", type: "range", min: step * Math.ceil((reserved + 1) / step), max: most, step, value: picture.total,
    onfocus: () => { waiting ??= picture.total; run(false); },
    oninput: () => {
      shown.textContent = number(Number(slider.value));
      use.hidden = Number(slider.value) === picture.total;
      waiting = Number(slider.value);
      run();
    } });
  slider.value = picture.total;

  // Retrieving is the slow part, and is done when the slider gets the focus.
  async function run(drawn = true) {
    if (running) return;
    running = true;
    while (waiting !== null) {
      const budget = waiting;
      waiting = null;
      try {
        const started = performance.now();
        if (!known.has(budget)) {
          const { budget: _, ...question } = request(state);
          const { steps } = await post("/v1/sweep", { ...question, budgets: [budget] });
          known.set(budget, steps[0]);
        }
        if (drawn || budget !== picture.total) drawStep(known.get(budget), performance.now() - started);
      } catch (problem) {
        show(moved, h("p", { class: "bad" }, problem.message));
      }
    }
    running = false;
  }

  function drawStep(step, ms) {
    const before = new Map(picture.pieces.map((piece) => [piece.entry.chunk_id, piece.entry]));
    const after = new Map(step.sources.map((source) => [source.chunk_id, source]));
    const enter = step.sources.filter((source) => !before.has(source.chunk_id));
    const leave = [...before.values()].filter((entry) => !after.has(entry.chunk_id));
    const reservedParts = picture.budget.filter((part) => part.kind === "reserved");
    show(bars, budgetBar([
      { kind: "pieces", tokens: Math.min(step.content_tokens, step.tokens) },
      { kind: "markers", tokens: Math.max(0, step.tokens - step.content_tokens) },
      { kind: "free", tokens: Math.max(0, step.available - step.tokens) },
      ...reservedParts,
    ].filter((part) => part.tokens > 0)));
    const list = (sign, kind, entries) => entries.map((entry) =>
      h("li", { class: kind }, `${sign} ${place(entry)} `, h("span", { class: "about" }, `${number(entry.tokens)} tokens`)));
    show(moved,
      h("p", null, `${step.sources.length} pieces, ${number(step.tokens)} tokens: `,
        h("b", { class: "good" }, `${enter.length} enter`), ", ", h("b", { class: "bad" }, `${leave.length} leave`),
        h("span", { class: "about" }, ` · ${Math.round(ms)} ms`)),
      h("ul", { class: "moves" }, list("+", "good", enter), list("-", "bad", leave)));
    moved.dataset.ms = ms.toFixed(1);
    moved.dataset.budget = step.budget;
  }

  return [bars, h("div", { class: "slide" }, h("label", { for: "slider" }, "Window of ", shown, " tokens"), slider, use), moved];
}

// --- a piece ------------------------------------------------------------------------------------

function feedback(data, piece, state) {
  const told = h("span", { class: "about", role: "status" });
  const send = (name) => async () => {
    try {
      await post("/v1/feedback", { receipt: data.receipt, [name]: [piece.entry.chunk_id], ...(state.viewer ? { viewer: state.viewer } : {}) });
      told.textContent = `noted as ${name}`;
    } catch (problem) {
      told.textContent = problem.message;
    }
  };
  const where = place(piece.entry);
  return h("p", { class: "row" },
    h("button", { type: "button", class: "small", "aria-label": `${where} was useful`, onclick: send("useful") }, "useful"),
    h("button", { type: "button", class: "small", "aria-label": `${where} was useless`, onclick: send("useless") }, "useless"), told);
}

async function whyNot(entry, button, state) {
  button.disabled = true;
  try {
    const { pieces } = await post("/v1/why-not", { ...request(state), path: entry.path, ...(entry.lines[0] ? { line: entry.lines[0] } : {}) });
    const lines = pieces.filter((piece) => !piece.inside).map((piece) => {
      const causes = piece.relaxed.length ? piece.relaxed : [piece];
      const settings = piece.relaxed.map((each) => `${each.setting} = ${JSON.stringify(each.value)}`).join(", ");
      return h("span", { class: "whynot" }, causes.map((cause) => `${cause.step}: ${cause.reason}. `),
        piece.checked ? h("b", null, `To let it in: ${settings}`) : "No setting was found that lets it in.");
    });
    button.replaceWith(...(lines.length ? lines : [h("span", null, "it is in the context")]));
  } catch (problem) {
    button.disabled = false;
    say(problem.message);
    button.after(h("span", { class: "bad" }, problem.message));
  }
}

function receiptSection(data, state) {
  const told = h("div", { "aria-live": "polite" });
  const verify = async () => {
    show(told, h("p", { class: "about" }, "Verifying …"));
    try {
      show(told, verification(await post("/v1/verify", { receipt: data.receipt, ...(state.viewer ? { viewer: state.viewer } : {}) })));
    } catch (problem) {
      show(told, h("p", { class: "bad" }, problem.message));
    }
  };
  return section("Receipt", null,
    h("p", { class: "row" }, h("button", { type: "button", onclick: verify }, "Verify"),
      h("a", { href: link({ view: "receipts", id: data.receipt, viewer: state.viewer }) }, "Open the receipt"),
      h("a", { href: link({ view: "compare", a: data.receipt, viewer: state.viewer }) }, "Compare with another")),
    told, roots(data.picture));
}

export { receiptSection };
