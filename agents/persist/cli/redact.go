package cli

import (
	"context"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/redact"
)

// redacting removes secrets from the results of workers and probes before they are stored, and shows
// each attempt.
type redacting struct {
	redact      *redact.Redactor
	view        *view
	transcripts *transcripts
}

func (g redacting) workers(workers map[string]persist.Worker) map[string]persist.Worker {
	out := make(map[string]persist.Worker, len(workers))
	for name, w := range workers {
		out[name] = redactingWorker{g, w}
	}
	return out
}

func (g redacting) probes(probes map[plan.Check]persist.Probe) map[plan.Check]persist.Probe {
	out := make(map[plan.Check]persist.Probe, len(probes))
	for name, p := range probes {
		out[name] = g.probe(p)
	}
	return out
}

func (g redacting) acceptance(all map[string][]persist.Probe) map[string][]persist.Probe {
	out := make(map[string][]persist.Probe, len(all))
	for task, probes := range all {
		for _, p := range probes {
			out[task] = append(out[task], g.probe(p))
		}
	}
	return out
}

func (g redacting) probe(p persist.Probe) persist.Probe {
	return func(ctx context.Context) plan.CheckResult {
		return redact.Copy(p(ctx), g.redact.Text)
	}
}

// readFile removes secrets from the beginnings of files. The size of the file stays that on disk.
func (g redacting) readFile(read func(string, int) ([]byte, int64, error)) func(string, int) ([]byte, int64, error) {
	return func(name string, most int) ([]byte, int64, error) {
		data, size, err := read(name, most)
		if whole := int64(len(data)) == size; whole {
			data = []byte(g.redact.Text(string(data)))
			return data, int64(len(data)), err
		}
		return []byte(g.redact.Text(string(data))), size, err
	}
}

type redactingWorker struct {
	redacting
	worker persist.Worker
}

// Work implements persist.Worker.
func (g redactingWorker) Work(ctx context.Context, a persist.Assignment) persist.Outcome {
	g.view.attempt(a)
	a.Meter = viewedMeter{a.Meter, g.view, a.Task.ID}
	log, done := g.transcripts.begin(a)
	defer done()
	a.Log = log
	if began := a.Began; began != nil {
		a.Began = func(s persist.Session) {
			began(s)
			log(persist.Entry{Kind: "session", Name: s.ID})
		}
	}
	o := g.worker.Work(ctx, a)
	for _, text := range []*string{&o.Answer, &o.Prose, &o.Details, &o.Warning, &o.Carry} {
		*text = g.redact.Text(*text)
	}
	log(persist.Entry{Kind: "end", Name: string(o.Grade), Text: o.Answer, Details: o.Details, Used: o.Used})
	return o
}

// viewedMeter shows the calls of an attempt.
type viewedMeter struct {
	persist.Meter
	view *view
	task string
}

// Call implements persist.Meter.
func (m viewedMeter) Call(n int) error {
	err := m.Meter.Call(n)
	if err == nil {
		m.view.called(m.task, n)
	}
	return err
}
