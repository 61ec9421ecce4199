// The page works without this script. With it, the details of a trial are inert text
// until somebody opens it, and the list can be searched, filtered and sorted.
"use strict";
(() => {
const root = document.documentElement;
const one = (css, from = document) => from.querySelector(css);
const all = (css, from = document) => [...from.querySelectorAll(css)];

// The theme is set before anything is drawn. Where a file may store nothing, it lasts
// as long as the page.
const themes = ["system", "light", "dark"];
const stored = {
  get() { try { return localStorage.getItem("rehearse-theme"); } catch { return null; } },
  set(theme) { try { localStorage.setItem("rehearse-theme", theme); } catch { /* it lasts as long as the page */ } },
};
let theme = "system";
function paint(next) {
  theme = themes.includes(next) ? next : "system";
  if (theme === "system") delete root.dataset.theme; else root.dataset.theme = theme;
}
paint(stored.get());

// unfold turns the inert text of a block into the elements that it describes. It runs
// no script: the parser's document has none, and the page's policy allows none.
function unfold(block) {
  for (const inert of all(":scope > noscript", block)) {
    const parsed = new DOMParser().parseFromString(inert.textContent, "text/html");
    inert.replaceWith(...parsed.body.childNodes);
  }
}

// open opens a block and all blocks around it.
function open(element) {
  for (let e = element; e; e = e.parentElement) {
    if (e.localName !== "details") continue;
    unfold(e);
    e.open = true;
  }
}

// find returns the element with an id, even if it is still inert text: the ids of
// what surrounds it are the beginnings of its own.
function find(id) {
  const parts = id.split("/");
  for (let n = 1; n < parts.length; n++) {
    const around = document.getElementById(parts.slice(0, n).join("/"));
    if (around && around.localName === "details") unfold(around);
  }
  return document.getElementById(id);
}

function follow() {
  let id;
  try { id = decodeURIComponent(location.hash.slice(1)); } catch { return; }
  const target = id && find(id);
  if (!target) return;
  const row = target.closest(".scenario");
  if (row && row.hidden) clear();
  if (row) row.style.contentVisibility = "visible";
  open(target);
  target.scrollIntoView({ block: "start", behavior: "instant" });
  const focus = target.localName === "details" ? one("summary", target) : target;
  if (focus.matches("summary, [tabindex]")) focus.focus({ preventScroll: true });
}

// The list.
let rows = [];
const filter = {};
const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;", "+": "&#43;" };

// matches reports whether all words of a search are in a text.
const has = (text, words) => words.every((w) => text.includes(w));

function apply() {
  const words = filter.search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const inert = words.map((w) => w.replace(/[&<>"'+]/g, (c) => escapes[c]));
  const verdicts = all("input[name=verdict]:checked").map((box) => box.value);
  const agent = filter.agent?.value, tag = filter.tag?.value;
  let shown = 0;
  for (const row of rows) {
    const { item } = row;
    const fits = (!verdicts.length || verdicts.includes(item.dataset.verdict))
      && (!agent || item.dataset.agent === agent)
      && (!tag || item.dataset.tags.split("\n").includes(tag))
      && (!words.length || has(row.text, words) || (filter.deep.checked && deep(item, words, inert)));
    if (item.hidden === fits) item.hidden = !fits;
    if (fits) shown++;
  }
  const total = rows.length === 1 ? "1 scenario" : `${rows.length} scenarios`;
  filter.count.textContent = shown === rows.length ? total : `${shown} of ${total}`;
}

function deep(item, words, inert) {
  const text = item.textContent.toLowerCase();
  return words.every((w, i) => text.includes(w) || text.includes(inert[i]));
}

function clear() {
  one("#filter").reset();
  order();
  apply();
}

function order() {
  const by = filter.order.value;
  const key = (row) => (by === "name" ? row.name : Number(row.item.dataset[by]));
  const keys = new Map(rows.map((row) => [row, key(row)]));
  const sign = by === "order" || by === "name" ? 1 : -1;
  rows.sort((a, b) => {
    const x = keys.get(a), y = keys.get(b);
    return x < y ? -sign : x > y ? sign : a.item.dataset.order - b.item.dataset.order;
  });
  one("#list").append(...rows.map((row) => row.item));
}

// step moves the focus to the next or previous scenario that is shown.
function step(from, by) {
  const shown = rows.filter((row) => !row.item.hidden);
  const at = shown.findIndex((row) => row.item.contains(from));
  const next = shown[at + by];
  if (next) one("summary", next.item).focus();
}

function begin() {
  all(".script").forEach((e) => { e.hidden = false; });
  for (const id of ["search", "agent", "tag", "order", "deep", "count"]) filter[id] = document.getElementById(id);
  rows = all("#list > .scenario").map((item) => {
    const summary = one("summary", item);
    return { item, name: one(".name b", summary).textContent, text: `${summary.textContent}\n${item.dataset.tags}`.toLowerCase() };
  });
  let waiting;
  filter.search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, filter.deep.checked ? 200 : 60); });
  one("#filter").addEventListener("change", (event) => { if (event.target === filter.order) order(); apply(); });
  one("#filter").addEventListener("submit", (event) => { event.preventDefault(); apply(); });

  const button = document.getElementById("theme");
  const label = () => { button.textContent = `Theme: ${theme}`; };
  button.addEventListener("click", () => { paint(themes[(themes.indexOf(theme) + 1) % themes.length]); stored.set(theme); label(); });
  label();
  all("details[open]").forEach(unfold);
  follow();
}

// The event does not bubble, so that it is caught on the way down.
document.addEventListener("toggle", (event) => {
  const block = event.target;
  if (!block.open) return;
  unfold(block);
  const trials = all(":scope > .trial", block);
  if (trials.length === 1) open(trials[0]);
}, true);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const writing = event.target.matches("input:not([type=checkbox]), select, textarea");
  if (event.key === "/" && !writing) {
    event.preventDefault();
    filter.search?.focus();
    filter.search?.select();
  } else if (event.key === "Escape" && event.target === filter.search) {
    filter.search.value = "";
    apply();
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && event.target.matches(".scenario > details > summary")) {
    event.preventDefault();
    step(event.target, event.key === "ArrowDown" ? 1 : -1);
  }
});
window.addEventListener("hashchange", follow);
// What did not pass is printed with its details.
window.addEventListener("beforeprint", () => {
  all(".explored .rest").forEach((d) => { d.open = true; });
  all('.scenario:is([data-verdict="fail"], [data-verdict="error"]):not([hidden]) > details').slice(0, 50).forEach((d) => { unfold(d); d.open = true; });
});
document.addEventListener("DOMContentLoaded", begin);
})();
