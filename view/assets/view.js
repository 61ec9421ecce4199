
// A run in progress: counters and rows come as server-sent events. Texts are set as text, never as markup.
document.addEventListener("DOMContentLoaded", () => {
  const live = one("[data-events]");
  if (!live) return;
  const events = new EventSource(live.dataset.events);
  const on = (name, handle) => events.addEventListener(name, (e) => handle(JSON.parse(e.data)));
  events.onerror = () => { one("#state").textContent = "not connected: the server may have ended"; };
  on("progress", (p) => {
    one("#progress").textContent = p.text;
    one("#state").textContent = p.state;
    const bar = one("#bar");
    bar.max = p.planned;
    bar.value = p.done;
  });
  on("result", (r) => {
    const body = one("#results tbody");
    let row = one(`tr[data-index="${Number(r.index)}"]`, body);
    if (!row) {
      row = body.insertRow();
      row.dataset.index = r.index;
      const head = document.createElement("th");
      head.scope = "row";
      const link = document.createElement("a");
      link.href = r.link;
      link.append(document.createElement("bdi"));
      head.append(link);
      row.append(head);
      for (let i = 0; i < 3; i++) row.insertCell();
      row.cells[3].className = "notes";
    }
    const [head, verdict, trials, finding] = row.cells;
    one("bdi", head).textContent = r.name;
    const badge = document.createElement("span");
    badge.className = `badge ${r.verdict}`;
    badge.textContent = `${r.sign} ${r.verdict}`;
    verdict.replaceChildren(badge);
    trials.textContent = r.trials;
    finding.textContent = r.finding;
  });
  on("done", (d) => {
    events.close();
    if (d.link) location.replace(d.link); else location.reload();
  });
  on("problem", (text) => {
    events.close();
    one("#progress").textContent = text;
  });
});
