// The state of a view is the query of its address, so that a link reproduces it.

export const VIEWS = ["ask", "receipts", "compare", "store", "browse", "source"];
/** The fields of a question, in the order of its form. */
export const QUESTION = ["q", "recipe", "budget", "model", "viewer", "paths", "kinds", "since", "until", "where"];
const LISTS = ["paths", "kinds"];

export function read() {
  const state = Object.fromEntries(new URLSearchParams(location.search));
  if (!VIEWS.includes(state.view)) state.view = "ask";
  return state;
}

export function link(state) {
  const kept = Object.entries(state).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return `?${new URLSearchParams(kept)}`;
}

export function go(state, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", link(state));
  if (!replace) dispatchEvent(new PopStateEvent("popstate"));
}

/** The body that asks for the context of a state. */
export function request(state) {
  const body = { query: state.q };
  for (const name of ["recipe", "model", "viewer", "since", "until", "where"]) if (state[name]) body[name] = state[name];
  if (state.budget) body.budget = Number(state.budget);
  for (const name of LISTS) {
    const values = (state[name] ?? "").split(",").map((each) => each.trim()).filter(Boolean);
    if (values.length) body[name] = values;
  }
  return body;
}

/** The viewer that the owner reads as, for requests that are no question. */
export function reader(state) {
  return state.viewer ? { viewer: state.viewer } : {};
}
