// The state of the index, what runs, and what failed.

import { reader } from "./address.js";
import { follow, get, post, remove } from "./api.js";
import { h, number, show, table } from "./dom.js";
import { page, section, trouble } from "./draw.js";

export async function store(main, state, me) {
  const [status, { facets }] = await Promise.all([get("/v1/status", reader(state)), get("/v1/facets", reader(state))]);
  const jobs = h("div", { "aria-live": "polite" });
  show(main, page("Index", "What the store holds, as far as you may know.", h("dl", { class: "facts" }, facts(status))),
    facets.length > 0 && section("Metadata", "Values by key, to filter questions by.", metadata(facets)), jobs);
  if (!me.may_index || state.viewer) return undefined;
  const stop = new AbortController();
  let followed = "";

  async function refresh() {
    const { items } = await get("/v1/index", { limit: 20 });
    if (stop.signal.aborted) return;
    drawJobs(items);
    const running = items.find((job) => job.state === "running");
    if (!running || running.id === followed) return;
    followed = running.id;
    const heard = (job) => drawJobs(items.map((each) => (each.id === job.id ? job : each)));
    follow(`/v1/index/${encodeURIComponent(running.id)}/events`, heard, stop.signal).then(refresh).catch((problem) => {
      if (problem.name !== "AbortError") show(jobs, trouble(problem));
    });
  }

  function drawJobs(items) {
    const running = items.some((job) => job.state === "running");
    const told = h("p", { class: "bad", role: "alert" });
    const start = async () => {
      try {
        await post("/v1/index", {});
        await refresh();
      } catch (problem) {
        told.textContent = problem.message;
      }
    };
    show(jobs, section("Jobs", "Index runs that were started here or over HTTP.",
      h("p", { class: "row" }, h("button", { type: "button", disabled: running, onclick: start }, "Index the project"), told),
      items.length > 0 && table("Jobs", [
        ["job", (job) => job.id],
        ["state", (job) => h("b", { class: job.state === "failed" ? "bad" : job.state === "finished" ? "good" : null }, job.state)],
        ["progress", (job) => progress(job)],
        ["failures", (job) => failures(job)],
        ["stop", (job) => job.state === "running" && h("button", { type: "button", class: "small", onclick: async () => { await remove(`/v1/index/${encodeURIComponent(job.id)}`); } }, "cancel")],
      ], items)));
  }

  await refresh();
  return () => stop.abort();
}

function progress(job) {
  if (job.state === "running" && job.progress.stage) {
    const { stage, done, total } = job.progress;
    return [h("progress", { max: total ?? null, value: total ? done : null, "aria-label": stage }), ` ${stage} ${number(done)}${total ? ` of ${number(total)}` : ""}`];
  }
  const { result } = job;
  return result ? `${number(result.indexed ?? 0)} indexed, ${number(result.unchanged ?? 0)} unchanged, ${number(result.removed ?? 0)} removed` : "";
}

function failures(job) {
  const skipped = job.result?.skipped ?? [];
  return [job.error, skipped.length > 0 && h("details", null, h("summary", null, `${skipped.length} skipped`),
    h("ul", null, skipped.map((each) => h("li", null, `${each.path}: ${each.reason}`))))];
}

function metadata(facets) {
  const values = (facet) => facet.values.map(([value, count]) => `${value} (${number(count)})`).join(", ");
  return table("Metadata", [
    ["key", (facet) => facet.key],
    ["records", (facet) => number(facet.records), "number"],
    ["values", (facet) => `${values(facet)}${facet.distinct > facet.values.length ? ", …" : ""}`],
  ], facets, "facets");
}

function facts(status) {
  return Object.entries(status).map(([name, value]) => h("div", null, h("dt", null, name.replaceAll("_", " ")), h("dd", null, shown(value))));
}

function shown(value) {
  if (typeof value === "number") return number(value);
  if (value === null || value === undefined || value === "") return "-";
  if (typeof value !== "object") return String(value);
  if ("hits" in value) return `${number(value.hits)} of ${number(value.total)}`;
  return Object.entries(value).map(([name, each]) => `${name.replaceAll("_", " ")} ${shown(each)}`).join(", ") || "-";
}
