// Requests to the service. The token stays in this tab, and is in no address.

const KEY = "quire.token";

export class Problem extends Error {
  constructor(status, data) {
    super(data.detail ?? `the service answered ${status}`);
    this.status = status;
    this.data = data;
  }
}

export const token = {
  get: () => sessionStorage.getItem(KEY) ?? "",
  set: (text) => sessionStorage.setItem(KEY, text),
  clear: () => sessionStorage.removeItem(KEY),
};

async function ask(method, path, body, signal) {
  const headers = { Accept: "application/json" };
  if (token.get()) headers.Authorization = `Bearer ${token.get()}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, {
    method, headers, signal, cache: "no-store", credentials: "omit",
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  let data = {};
  try {
    data = await answer.json();
  } catch { /* an answer without a body */ }
  if (!answer.ok) throw new Problem(answer.status, data);
  return data;
}

/** Follow server-sent events with the token, which EventSource cannot send; `heard` gets each one. */
export async function follow(path, heard, signal) {
  const headers = { Accept: "text/event-stream" };
  if (token.get()) headers.Authorization = `Bearer ${token.get()}`;
  const answer = await fetch(path, { headers, signal, cache: "no-store", credentials: "omit" });
  if (!answer.ok) throw new Problem(answer.status, await answer.json().catch(() => ({})));
  const lines = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await lines.read();
    if (done) return;
    text += value;
    const events = text.split("\n\n");
    text = events.pop();
    for (const event of events) {
      const data = event.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("\n");
      if (data) heard(JSON.parse(data));
    }
  }
}

export const get = (path, parameters = {}) => {
  const sent = new URLSearchParams(parameters).toString();
  return ask("GET", sent ? `${path}?${sent}` : path);
};
export const post = (path, body, signal) => ask("POST", path, body, signal);
export const remove = (path) => ask("DELETE", path);
