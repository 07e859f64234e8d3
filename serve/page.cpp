// SPDX-License-Identifier: MIT
#include "serve/page.h"

namespace serve {

// What a model writes is put into the page as text and never as HTML.
const std::string_view kPage = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A GPT of your own</title>
<link rel="icon" href="data:,">
<style>
  :root { color-scheme: light dark; --line: #8885; --own: #8882; }
  * { box-sizing: border-box; }
  body { margin: 0; font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; }
  main { display: flex; flex-direction: column; height: 100vh; height: 100dvh; max-width: 46rem; margin: auto; padding: 0 1rem; }
  h1 { font-size: 1.1rem; margin: .8rem 0 .4rem; }
  h1 span { font-weight: normal; opacity: .7; }
  #log { flex: 1; overflow-y: auto; border-top: 1px solid var(--line); padding: .6rem 0; }
  #log p { margin: 0 0 .8rem; white-space: pre-wrap; overflow-wrap: anywhere; }
  #log p.user { background: var(--own); border-radius: .5rem; padding: .4rem .7rem; margin-left: 2rem; }
  #log p.writing::after { content: "\2588"; animation: blink 1s steps(2) infinite; }
  #log p.error { color: #c33; }
  @keyframes blink { 50% { opacity: 0; } }
  form { display: grid; grid-template-columns: 1fr auto auto; align-items: end; gap: .5rem; padding: .6rem 0; border-top: 1px solid var(--line); }
  textarea { grid-column: 1 / -1; font: inherit; width: 100%; resize: vertical; padding: .4rem; }
  fieldset { border: 0; padding: 0; margin: 0; display: flex; flex-wrap: wrap; gap: .2rem 1rem; align-items: center; min-width: 0; }
  input { font: inherit; width: 5rem; }
  button { font: inherit; padding: .3rem 1rem; }
  #state { grid-column: 1 / -1; margin: 0; min-height: 1.5em; opacity: .7; font-size: .9rem; }
</style>
</head>
<body>
<main>
  <h1>A GPT of your own <span id="model"></span></h1>
  <div id="log" role="log" aria-live="polite"></div>
  <form id="form">
    <textarea id="text" rows="3" aria-label="What you say" placeholder="What you say; Enter sends it, Shift and Enter begin a line" required></textarea>
    <fieldset>
      <label>temperature <input id="temperature" type="number" min="0" max="2" step="0.1" value="0.8"></label>
      <label>tokens at most <input id="most" type="number" min="1" step="1" placeholder="all"></label>
    </fieldset>
    <button id="new" type="button">New</button>
    <button id="send" type="submit">Send</button>
    <p id="state" role="status"></p>
  </form>
</main>
<script>
"use strict";
const at = id => document.getElementById(id);
const log = at("log"), state = at("state"), send = at("send");
let said = [], running = null, model = null, gpu = false;

function show(kind, text) {
  const p = document.createElement("p");
  p.className = kind;
  p.textContent = text;
  log.append(p);
  log.scrollTop = log.scrollHeight;
  return p;
}
async function problem(response) {
  try {
    return (await response.json()).error.message;
  } catch {
    return "HTTP " + response.status;
  }
}
// Calls take() with each event of the stream, which come in pieces that may end anywhere.
async function events(response, take) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = "";;) {
    const {done, value} = await reader.read();
    if (done) throw new Error("the server went away");
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const data = part.replace(/^data: /, "");
      if (data === "[DONE]") return;
      const event = JSON.parse(data);
      if (event.error) throw new Error(event.error.message);
      take(event);
    }
  }
}
async function answer() {
  running = new AbortController();
  send.textContent = "Stop";
  const p = show("assistant writing", "");
  const begin = performance.now();
  let written = 0, first = 0, ended = "";
  const asked = {model, messages: said, stream: true, stream_options: {include_usage: true}, temperature: Number(at("temperature").value)};
  if (at("most").value) asked.max_tokens = Number(at("most").value);
  try {
    state.textContent = "waits";
    const response = await fetch("/v1/chat/completions", {
      method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(asked), signal: running.signal});
    if (!response.ok) throw new Error(await problem(response));
    await events(response, event => {
      if (event.usage) written = event.usage.completion_tokens;
      const choice = event.choices[0];
      if (!choice) return;
      if (choice.finish_reason) ended = choice.finish_reason === "length" ? "as long as it may be" : "its end";
      if (!choice.delta.content) return;
      first ||= performance.now();
      const below = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
      p.textContent += choice.delta.content;
      if (below) log.scrollTop = log.scrollHeight;
      state.textContent = "writes";
    });
    // A CPU's speed says nothing of a GPU's.
    const speed = gpu && written > 1 ? ", " + Math.round((written - 1) / (performance.now() - first) * 1000) + " tokens/s, the first after " +
                                         Math.round(first - begin) + " ms" : "";
    state.textContent = `${written} tokens, ${ended}${speed}`;
  } catch (error) {
    if (error.name === "AbortError") {
      state.textContent = "stopped";
    } else {
      show("error", error.message);
      state.textContent = "";
    }
  }
  p.classList.remove("writing");
  if (p.textContent) said.push({role: "assistant", content: p.textContent});
  else p.remove();
  running = null;
  send.textContent = "Send";
}
at("form").addEventListener("submit", event => {
  event.preventDefault();
  if (running) return running.abort();
  const text = at("text").value;
  if (!text.trim()) return;
  at("text").value = "";
  said.push({role: "user", content: text});
  show("user", text);
  answer();
});
at("text").addEventListener("keydown", event => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (!running) at("form").requestSubmit();
});
// While an answer comes the field may be empty, and Stop must work all the same.
send.addEventListener("click", event => {
  if (!running) return;
  event.preventDefault();
  running.abort();
});
at("new").addEventListener("click", () => {
  if (running) running.abort();
  said = [];
  log.replaceChildren();
  state.textContent = "";
  at("text").focus();
});
(async () => {
  try {
    model = (await (await fetch("/v1/models")).json()).data[0].id;
    gpu = (await (await fetch("/health")).json()).gpu === true;
    at("model").textContent = model + (gpu ? "" : " on a CPU");
  } catch {
    state.textContent = "the server does not answer";
  }
  at("text").focus();
})();
</script>
</body>
</html>
)html";

}  // namespace serve
