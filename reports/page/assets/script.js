// The page works without this script. With it, the details of a trial are inert or compressed
// text until somebody opens it, and the list can be searched, filtered and sorted.
(() => {
// line returns a stored line; its chunk must be loaded.
let chunks;
function chunkOf(n) {
  chunks ??= all("template.chunk").map((e) => ({ from: Number(e.dataset.from), text: e.content.textContent }));
  let lo = 0, hi = chunks.length - 1;
  while (lo < hi) {
    const middle = (lo + hi + 1) >> 1;
    if (chunks[middle].from <= n) lo = middle; else hi = middle - 1;
  }
  return chunks[lo];
}
async function load(chunk) {
  chunk.loading ??= (async () => {
    const bytes = Uint8Array.from(atob(chunk.text), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    chunk.lines = (await new Response(stream).text()).split("\n");
  })();
  await chunk.loading;
}
const line = (n) => { const chunk = chunkOf(n); return chunk.lines[n - chunk.from]; };

// unpack returns the markup of a compressed block, whose first line lists the ranges of its lines.
async function unpack(inert) {
  const n = Number(inert.dataset.packed);
  await load(chunkOf(n));
  const numbers = line(n).split(" ").flatMap((range) => {
    const [from, more = 0] = range.split("+").map(Number);
    return Array.from({ length: more + 1 }, (_, i) => from + i);
  });
  await Promise.all([...new Set(numbers.map(chunkOf))].map(load));
  return numbers.map(line).join("\n").replaceAll("\x01", inert.parentElement.id);
}

// unfold turns the inert text of a block into the elements that it describes. It runs no script:
// the parser's document has none, and the page's policy allows none. Compressed text takes a moment.
function unfold(block) {
  const inert = one(":scope > noscript", block);
  if (!inert) return undefined;
  const put = (text) => {
    if (!inert.isConnected) return;
    const parsed = new DOMParser().parseFromString(text, "text/html");
    inert.replaceWith(...parsed.body.childNodes);
    prepare(block);
  };
  if (!inert.dataset.packed) return put(inert.textContent);
  return unpack(inert).then(put);
}

// open opens a block and all blocks around it.
async function open(element) {
  for (let e = element; e; e = e.parentElement) {
    if (e.localName !== "details") continue;
    await unfold(e);
    e.open = true;
  }
}

// find returns the element with an id, even if it is still inert text: the ids of
// what surrounds it are the beginnings of its own.
async function find(id) {
  const parts = id.split("/");
  for (let n = 1; n < parts.length; n++) {
    const around = document.getElementById(parts.slice(0, n).join("/"));
    if (around && around.localName === "details") await unfold(around);
  }
  return document.getElementById(id);
}

async function follow() {
  if (location.hash.startsWith("#?")) { restore(); return; }
  let id;
  try { id = decodeURIComponent(location.hash.slice(1)); } catch { return; }
  const target = id && await find(id);
  if (!target) return;
  const row = target.closest(".scenario");
  if (row && row.hidden) clear();
  if (row) row.style.contentVisibility = "visible";
  await open(target);
  target.scrollIntoView({ block: "start", behavior: "instant" });
  const focus = target.localName === "details" ? one("summary", target) : target;
  if (focus.matches("summary, [tabindex]")) focus.focus({ preventScroll: true });
}

// The list.
let rows = [], falling = false;
const filter = {};
const bad = ["fail", "error"];

// apply hides the rows that do not match. The newest call wins: a search in compressed
// transcripts takes a moment.
let turn = 0;
async function apply() {
  const mine = ++turn;
  const words = filter.search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const verdicts = all("input[name=verdict]:checked").map((box) => box.value);
  const agent = filter.agent?.value, tag = filter.tag?.value, deep = filter.deep.checked && words.length;
  const fits = rows.map(({ item, text }) => (!verdicts.length || verdicts.includes(item.dataset.verdict))
    && (!agent || item.dataset.agent === agent)
    && (!tag || item.dataset.tags.split("\n").includes(tag))
    && (words.every((w) => text.includes(w)) || (deep && null)));
  for (const [i, row] of rows.entries()) {
    if (fits[i] !== null) continue;
    row.deep ??= transcript(row.item);
    const text = `${row.text}\n${await row.deep}`;
    if (mine !== turn) return;
    fits[i] = words.every((w) => text.includes(w));
  }
  let shown = 0;
  rows.forEach(({ item }, i) => {
    if (item.hidden === fits[i]) item.hidden = !fits[i];
    if (fits[i]) shown++;
  });
  const int = (n) => n.toLocaleString("en-US");
  const total = rows.length === 1 ? "1 scenario" : `${int(rows.length)} scenarios`;
  filter.count.textContent = shown === rows.length ? total
    : `${int(shown)} of ${total}${shown || deep ? "" : ": no name, tag, finding or answer matches"}`;
  remember(words, verdicts, agent, tag);
}

// transcript returns all words of a scenario, opened or not.
async function transcript(item) {
  const inert = all("noscript", item);
  const texts = await Promise.all(inert.map((e) => (e.dataset.packed ? unpack(e) : e.textContent)));
  const parsed = texts.map((text) => new DOMParser().parseFromString(text, "text/html").body.textContent);
  inert.length || parsed.push(item.textContent);
  return parsed.join("\n").toLowerCase();
}

// remember puts the filters into the address, and restore takes them from there.
function remember(words, verdicts, agent, tag) {
  const state = new URLSearchParams();
  const set = (key, value) => { if (value) state.set(key, value); };
  set("q", words.join(" "));
  set("verdict", verdicts.join(","));
  set("kind", agent);
  set("tag", tag);
  set("sort", filter.order.value === "order" && !falling ? "" : filter.order.value + (falling ? ",reversed" : ""));
  set("deep", filter.deep.checked ? "1" : "");
  const hash = state.size ? `#?${state}` : "";
  if (hash !== location.hash && (hash || location.hash.startsWith("#?"))) history.replaceState(null, "", hash || location.pathname);
}
function restore() {
  const state = new URLSearchParams(location.hash.slice(2));
  filter.search.value = state.get("q") ?? "";
  const verdicts = (state.get("verdict") ?? "").split(",");
  all("input[name=verdict]").forEach((box) => { box.checked = verdicts.includes(box.value); });
  if (filter.agent) filter.agent.value = state.get("kind") ?? "";
  if (filter.tag) filter.tag.value = state.get("tag") ?? "";
  filter.deep.checked = state.has("deep");
  const [by, reversed] = (state.get("sort") ?? "order").split(",");
  if ([...filter.order.options].some((o) => o.value === by)) filter.order.value = by;
  order(reversed === "reversed");
  apply();
}

function clear() {
  one("#filter").reset();
  order(false);
  apply();
}

// order sorts the list: amounts from high to low and words from A to Z, or reversed.
function order(reversed) {
  falling = reversed;
  const by = filter.order.value, words = by === "name" || by === "agent";
  const key = (row) => (by === "name" ? row.name : words ? row.item.dataset[by] : Number(row.item.dataset[by]));
  const keys = new Map(rows.map((row) => [row, key(row)]));
  const up = words || by === "order", sign = up === reversed ? -1 : 1;
  rows.sort((a, b) => {
    const x = keys.get(a), y = keys.get(b);
    return x < y ? -sign : x > y ? sign : a.item.dataset.order - b.item.dataset.order;
  });
  one("#list").append(...rows.map((row) => row.item));
  for (const b of all(".columns .sort")) {
    b.dataset.sorted = b.dataset.by !== by ? "" : sign > 0 ? "up" : "down";
    b.setAttribute("aria-pressed", b.dataset.by === by);
  }
}

// step moves the focus to the next or previous scenario that is shown; from the search, to the first.
function step(from, by) {
  const shown = rows.filter((row) => !row.item.hidden);
  const at = shown.findIndex((row) => row.item.contains(from));
  if (at + by < 0 && at >= 0) { filter.search.focus(); return; }
  const next = shown[at < 0 ? 0 : at + by];
  if (next) one("summary", next.item).focus();
}

// failure opens the next or previous scenario that did not pass, with its first such trial.
async function failure(by) {
  const shown = rows.filter((row) => !row.item.hidden && bad.includes(row.item.dataset.verdict));
  if (!shown.length) return;
  let at = shown.findIndex((row) => row.item.contains(document.activeElement));
  at = at < 0 ? (by > 0 ? 0 : shown.length - 1) : (at + by + shown.length) % shown.length;
  const { item } = shown[at];
  const block = one("details", item);
  item.style.contentVisibility = "visible";
  await open(block);
  const trial = all(".trial", item).find((e) => bad.includes(e.dataset.verdict));
  if (trial) await open(trial);
  block.scrollIntoView({ block: "start", behavior: "instant" });
  one("summary", block).focus({ preventScroll: true });
}

function begin() {
  for (const id of ["search", "agent", "tag", "order", "deep", "count"]) filter[id] = document.getElementById(id);
  rows = all("#list > .scenario").map((item) => {
    const summary = one("summary", item);
    return {
      item, name: one(".name b", summary).textContent,
      text: `${summary.textContent}\n${item.dataset.tags}\n${item.dataset.found}`.toLowerCase(),
    };
  });
  let waiting;
  filter.search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, filter.deep.checked ? 200 : 60); });
  one("#filter").addEventListener("change", (event) => { if (event.target === filter.order) order(false); apply(); });
  one("#filter").addEventListener("submit", (event) => { event.preventDefault(); apply(); });
  for (const b of all(".columns .sort")) {
    b.addEventListener("click", () => {
      const again = filter.order.value === b.dataset.by;
      filter.order.value = b.dataset.by;
      order(again && !falling);
      apply();
    });
  }
  for (const b of all(".failure-step")) {
    b.hidden = !rows.some((row) => bad.includes(row.item.dataset.verdict));
    b.addEventListener("click", () => failure(Number(b.dataset.by)));
  }
  all("details[open]").forEach(unfold);
  follow();
}

// The event does not bubble, so that it is caught on the way down.
document.addEventListener("toggle", async (event) => {
  const block = event.target;
  if (!block.open) return;
  await unfold(block);
  const trials = all(":scope > .trial", block);
  if (trials.length === 1 && !one(":scope > .without", block)) open(trials[0]);
}, true);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const writing = event.target.matches("input:not([type=checkbox]), select, textarea");
  const arrow = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "/" && !writing) {
    event.preventDefault();
    filter.search?.focus();
    filter.search?.select();
  } else if (event.key === "Escape" && event.target === filter.search) {
    filter.search.value = "";
    apply();
  } else if (arrow && (event.target === filter.search || event.target.matches(".scenario > details > summary"))) {
    event.preventDefault();
    step(event.target, arrow);
  } else if ((event.key === "n" || event.key === "p") && !writing) {
    failure(event.key === "n" ? 1 : -1);
  }
});
window.addEventListener("hashchange", follow);
// What did not pass is printed with its details.
window.addEventListener("beforeprint", () => {
  all('.scenario:is([data-verdict="fail"], [data-verdict="error"]):not([hidden]) > details').slice(0, 50).forEach((d) => { unfold(d); d.open = true; });
});
document.addEventListener("DOMContentLoaded", begin);
})();
