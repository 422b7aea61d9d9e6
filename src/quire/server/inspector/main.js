// The shell: who asks, which view the address names, and what went wrong.

import { VIEWS, link, read } from "./address.js";
import { get, Problem, token } from "./api.js";
import { h, say, show } from "./dom.js";
import { trouble } from "./draw.js";
import { ask } from "./ask.js";
import { browse } from "./browse.js";
import { compare, receipts } from "./receipts.js";
import { source } from "./source.js";
import { store } from "./store.js";

const DRAWN = { ask, receipts, compare, store, browse, source };
const TITLES = { ask: "Ask", receipts: "Receipts", compare: "Compare", store: "Index", browse: "Browse", source: "Source" };
const main = document.getElementById("main");
let me = null;
let leave = () => {};

async function start() {
  try {
    me = await get("/v1/me");
  } catch (problem) {
    if (problem instanceof Problem && problem.status === 401) return askToken(Boolean(token.get()));
    return fail(problem);
  }
  drawWho();
  return draw();
}

async function draw() {
  if (!me) return;
  const state = read();
  leave();
  leave = () => {};
  say("");
  document.title = `${TITLES[state.view]}${state.q ? `: ${state.q.slice(0, 60)}` : ""} · Quire`;
  drawNav(state);
  // What a view that was left still draws goes nowhere.
  const page = h("div", null);
  show(main, page);
  try {
    const end = (await DRAWN[state.view](page, state, me, fail)) ?? (() => {});
    if (page.isConnected) leave = end;
    else end();
  } catch (problem) {
    if (page.isConnected) fail(problem);
  }
}

function drawNav(state) {
  show(document.getElementById("nav"), VIEWS.filter((view) => view !== "source").map((view) =>
    h("a", { href: link({ view, viewer: state.viewer }), "aria-current": view === state.view ? "page" : null }, TITLES[view])));
}

function drawWho() {
  show(document.getElementById("who"),
    h("span", null, `${me.viewer ?? "owner"} · ${me.scope}`),
    token.get() && h("button", { type: "button", class: "small", onclick: signOut }, "Forget token"));
}

function signOut() {
  token.clear();
  me = null;
  // At once, and whatever the service answers: what was shown is the token's.
  leave();
  leave = () => {};
  show(main);
  say("");
  document.title = "Quire inspector";
  show(document.getElementById("who"));
  show(document.getElementById("nav"));
  start();
}

function askToken(refused) {
  const field = h("input", { id: "token", type: "password", autocomplete: "off", required: true, spellcheck: "false" });
  show(main, h("section", { class: "narrow" },
    h("h1", null, "Token"),
    h("p", { class: "about" }, "It stays in this tab until you close it. ", h("code", null, "quire token create"), " makes one."),
    refused && h("p", { class: "bad", role: "alert" }, "The service does not know this token, or it has expired."),
    h("form", { onsubmit: (event) => { event.preventDefault(); token.set(field.value.trim()); start(); } },
      h("label", { for: "token" }, "Token", field),
      h("button", { type: "submit" }, "Continue"))));
  field.focus();
}

function fail(problem) {
  if (problem.name === "AbortError") return;
  if (problem instanceof Problem && problem.status === 401) {
    me = null;
    askToken(true);
    return;
  }
  show(main, trouble(problem, h("p", null, h("a", { href: link({ view: "ask" }) }, "Ask something else"))));
}

// Links within the inspector change the address without loading the page again.
addEventListener("click", (event) => {
  const anchor = event.target.closest?.("a");
  const isOwn = anchor && anchor.getAttribute("href")?.startsWith("?") && !anchor.target;
  if (!isOwn || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, "", anchor.href);
  scrollTo(0, 0);
  main.focus({ preventScroll: true });
  draw();
});
addEventListener("popstate", draw);
start();
