// What is better with a script, and works without: the page sends its form by
// itself, says that it is thinking, and shows what comes next without a reload.
"use strict";

const status = () => document.getElementById("status");
const form = () => document.querySelector("form[data-enhance]");
const draft = () => document.querySelector("textarea[data-draft]");
let sending = false;
let timers = [];

// say shows one of the texts that the page brought along.
function say(what) {
  const line = status();
  if (!line) return;
  line.textContent = what ? line.dataset[what] : "";
  line.className = "status" + (what === "offline" ? " failed" : what ? " busy" : "");
}

function wait(delay, f) { timers.push(setTimeout(f, delay)); }

// show puts the page that the server sent in place of this one.
function show(html, address) {
  const next = new DOMParser().parseFromString(html, "text/html");
  const app = next.getElementById("app");
  if (!app) { location.assign(address); return; }
  timers.forEach(clearTimeout);
  timers = [];
  document.documentElement.lang = next.documentElement.lang;
  document.title = next.title;
  document.getElementById("app").replaceWith(app);
  if (address !== location.href) history.pushState(null, "", address);
  const focus = document.getElementById("focus");
  focus.focus({ preventScroll: true });
  window.scrollTo(0, 0);
  begin();
}

// lock keeps a form as it is while it is being sent.
function lock(target, locked) {
  target.setAttribute("aria-busy", String(locked));
  target.querySelectorAll("button").forEach((b) => { b.disabled = locked; });
  target.querySelectorAll("textarea").forEach((t) => { t.readOnly = locked; });
}

async function load(address, options) {
  const answer = await fetch(address, { credentials: "same-origin", headers: { Accept: "text/html" }, ...options });
  show(await answer.text(), answer.url);
  return answer.ok;
}

async function send(target, submitter) {
  if (sending) return;
  sending = true;
  const body = new URLSearchParams(new FormData(target, submitter));
  const text = draft();
  lock(target, true);
  say("thinking");
  wait(15000, () => say("slow"));
  try {
    const taken = await load(target.action, { method: "POST", body });
    if (text && taken) sessionStorage.removeItem(text.dataset.draft);
  } catch {
    // The id of the submission is the same, so that sending it again is safe.
    timers.forEach(clearTimeout);
    lock(target, false);
    say("offline");
  } finally {
    sending = false;
  }
}

// begin sets up a page that was just shown.
function begin() {
  const text = draft();
  if (text) {
    const kept = sessionStorage.getItem(text.dataset.draft);
    if (kept && !text.value) text.value = kept;
    if (!matchMedia("(pointer: coarse)").matches) { // there, few have a Ctrl key
      document.getElementById("keys").hidden = false;
      text.setAttribute("aria-describedby", "keys");
    }
    text.addEventListener("input", () => sessionStorage.setItem(text.dataset.draft, text.value));
  }
  const copy = document.querySelector("button[data-copy]");
  if (copy && navigator.clipboard) { // not without HTTPS, except on this machine
    copy.hidden = false;
    copy.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(copy.dataset.copy).value);
      copy.textContent = copy.dataset.done;
    });
  }
  const auto = document.querySelector("form[data-auto]");
  if (auto) wait(0, () => send(auto, auto.querySelector("button")));
  if (document.querySelector("main[data-mode=thinking]")) {
    wait(2000, () => load(location.href).catch(() => { say("offline"); begin(); }));
  }
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-enhance]")) return;
  event.preventDefault();
  send(event.target, event.submitter);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !form()) return;
  event.preventDefault();
  form().requestSubmit(form().querySelector("button.primary"));
});
window.addEventListener("popstate", () => location.reload());
document.addEventListener("DOMContentLoaded", begin);
