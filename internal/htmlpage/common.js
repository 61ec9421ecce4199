// Themes, sortable tables and copy buttons, for all reports.
"use strict";
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
  if (theme === "system") delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = theme;
}
paint(stored.get());

function button(text, name, className) {
  const b = document.createElement("button");
  b.type = "button";
  b.className = className;
  b.textContent = text;
  if (name) b.setAttribute("aria-label", name);
  return b;
}

// prepare adds copy and sort buttons to a part of the page.
function prepare(part) {
  for (const e of all(".command, .evidence, .message", part)) {
    if (e.dataset.copied !== undefined) continue;
    e.dataset.copied = "";
    const b = button("Copy", "Copy this " + (e.matches(".command") ? "command" : "text"), "copy");
    if (e.matches(".command")) e.append(b); else e.prepend(b);
  }
  for (const table of all("table.plain", part)) {
    if (!table.tHead || table.tBodies[0].rows.length < 3) continue;
    for (const th of table.tHead.rows[0].cells) {
      if (!th.textContent.trim() || one("button", th)) continue;
      const b = button("", "", "sort");
      b.append(...th.childNodes);
      th.append(b);
    }
  }
}

async function copy(b) {
  const from = b.parentElement;
  const texts = all(":scope .text", from);
  const text = texts.length ? texts.map((e) => e.textContent).join("\n") : [...from.childNodes].filter((n) => n !== b).map((n) => n.textContent).join("");
  try {
    await navigator.clipboard.writeText(text);
  } catch { // pages of files may not use the clipboard in every browser
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    b.focus();
  }
  b.textContent = "Copied";
  setTimeout(() => { b.textContent = "Copy"; }, 1500);
}

// amount is the number that a cell begins with; words are compared as words.
const amount = (text) => { const n = parseFloat(text.replace(/^[≥+ ]+/, "").replace("−", "-").replaceAll(",", "")); return Number.isNaN(n) ? null : n; };

// compare orders cells: numbers before words.
function compare(a, b) {
  const x = amount(a), y = amount(b);
  if (x !== null && y !== null) return x - y;
  return (x === null) - (y === null) || a.localeCompare(b);
}

function sortTable(th) {
  const falling = th.getAttribute("aria-sort") === "ascending", table = th.closest("table");
  for (const other of th.parentElement.cells) other.removeAttribute("aria-sort");
  th.setAttribute("aria-sort", falling ? "descending" : "ascending");
  const cell = (row) => row.cells[th.cellIndex]?.textContent.trim() ?? "";
  for (const body of table.tBodies) {
    body.append(...[...body.rows].sort((a, b) => (falling ? -1 : 1) * compare(cell(a), cell(b))));
  }
}

document.addEventListener("click", (event) => {
  const b = event.target.closest("button");
  if (b?.matches(".copy")) copy(b);
  else if (b?.matches("th > .sort")) sortTable(b.parentElement);
});

document.addEventListener("DOMContentLoaded", () => {
  all(".script").forEach((e) => { e.hidden = false; });
  const b = document.getElementById("theme");
  const label = () => { b.textContent = `Theme: ${theme}`; };
  b.addEventListener("click", () => { paint(themes[(themes.indexOf(theme) + 1) % themes.length]); stored.set(theme); label(); });
  label();
  prepare(document);
});
