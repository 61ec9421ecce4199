package page

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/htmlpage"
	"github.com/rehearse-dev/rehearse/reports"
)

// Write writes the page of all added trials. It must be called once.
func (b *Builder) Write(w io.Writer, in Input) error {
	b.page.reset()
	summary := b.summary(in)
	if err := b.page.execute("page", summary); err != nil {
		return fmt.Errorf("render the summary: %w", err)
	}
	top := bytes.Clone(b.page.out.Bytes())
	list, err := b.list(in, len(top)+len(summary.Plots)+len(summary.Agents))
	if err != nil {
		return err
	}
	out := &output{w: w}
	out.write(top)
	out.render(&b.page, "list", b.listHead(in.Report, list))
	for i := range list {
		b.item(out, &list[i])
	}
	out.render(&b.page, "list-end", nil)
	out.render(&b.page, "figures", summary)
	for _, c := range b.pack.chunks {
		out.render(&b.page, "chunk", c.from)
		out.copy(&b.spool, c.text)
		out.render(&b.page, "chunk-end", nil)
	}
	out.render(&b.page, "end", htmlpage.Frame{Tool: line(in.Report.Run.Tool, 100)})
	if out.err != nil {
		return fmt.Errorf("write the page: %w", out.err)
	}
	return nil
}

// item is a scenario in the list.
type item struct {
	head piece
	of   *scenario
	row  row
}

// reserve is the room for the markup around scenarios, and ends for the end of each one.
const (
	reserve = 64 << 10
	ends    = 300
)

// list renders the heads of the scenarios, by urgency, until the page is full. top is the size
// of the page above them.
func (b *Builder) list(in Input, top int) ([]item, error) {
	var list []item
	for i, s := range reports.ByUrgency(in.Report.Scenarios) {
		if int(b.spool.end)+b.pack.pending()+top+reserve+ends*len(list) > b.limit {
			break
		}
		sc := b.scenario(s.Name)
		it := item{of: sc, row: b.row(s, i)}
		it.row.Open = len(in.Report.Scenarios) == 1 && len(in.Explored) == 0
		b.page.reset()
		err := b.page.execute("scenario-inside", b.section(s, it.row))
		if err != nil {
			return nil, fmt.Errorf("render scenario %s: %w", s.Name, err)
		}
		if it.row.Inside, err = b.fold(b.page.out.Bytes(), sc.id, classOf(s.Verdict, true)); err != nil {
			return nil, err
		}
		b.page.reset()
		if err := b.page.execute("scenario", it.row); err != nil {
			return nil, fmt.Errorf("render scenario %s: %w", s.Name, err)
		}
		if it.head, err = b.spool.add(b.page.out.Bytes()); err != nil {
			return nil, fmt.Errorf("keep scenario %s for the page: %w", s.Name, err)
		}
		list = append(list, it)
	}
	b.pack.flush()
	return list, b.pack.err
}

func (b *Builder) item(out *output, it *item) {
	out.copy(&b.spool, it.head)
	for _, p := range it.of.trials {
		out.copy(&b.spool, p)
	}
	out.render(&b.page, "scenario-end", without(it.of.without))
}

// listHead is the part above the list of scenarios.
type listHead struct {
	LeftOut  string
	Verdicts []choice
	Agents   []string
	Tags     []string
	Count    string
	Columns  []sortColumn
}

// sortColumn is a head of the list that sorts it.
type sortColumn struct {
	By, Name string
	Right    bool
}

var sortColumns = []sortColumn{
	{"order", "verdict", false},
	{"name", "scenario", false},
	{"agent", "kind", false},
	{"calls", "calls", true},
	{"tokens", "tokens", true},
	{"cost", "EUR", true},
	{"latency", "p95", true},
}

type choice struct {
	verdict
	N int
}

// maxChoices limits the agents and tags to filter by.
const maxChoices = 200

func (b *Builder) listHead(r reports.Report, list []item) listHead {
	var left reports.Count
	for i := range list {
		left.Join(list[i].of.without)
	}
	h := listHead{Count: format.Count(len(list), "scenario"), Columns: sortColumns}
	if n := len(r.Scenarios) - len(list); n > 0 {
		h.LeftOut = fmt.Sprintf("%s of %s are left out, passed ones first: a page has a size limit. ",
			format.Number(float64(n)), format.Count(len(r.Scenarios), "scenario"))
	}
	if text := without(left); text != "" {
		h.LeftOut += fmt.Sprintf("There are %s: the page shows at most %d passing trials of a scenario, and is not larger than %s MB. "+
			"Failed trials and the first trial of each scenario have priority.",
			text, maxPassing, format.Number(float64(b.limit)/1e6))
	}
	h.LeftOut = strings.TrimSpace(h.LeftOut)
	counts := map[string]int{}
	for i := range list {
		row := &list[i].row
		counts[row.Verdict.Name]++
		h.Agents = append(h.Agents, row.Agent)
	}
	for _, v := range []gate.Verdict{gate.Fail, gate.Error, gate.Pass, gate.Skip} {
		if n := counts[string(v)]; n > 0 {
			h.Verdicts = append(h.Verdicts, choice{newVerdict(v), n})
		}
	}
	for _, s := range r.Scenarios {
		for _, t := range s.Tags {
			h.Tags = append(h.Tags, line(t, 60))
		}
	}
	h.Agents, h.Tags = distinct(h.Agents), distinct(h.Tags)
	return h
}

func distinct(list []string) []string {
	slices.Sort(list)
	list = slices.Compact(list)
	return list[:min(len(list), maxChoices)]
}

// output writes until the first error.
type output struct {
	w   io.Writer
	err error
}

func (f *output) write(text []byte) {
	if f.err == nil {
		_, f.err = f.w.Write(text)
	}
}

func (f *output) copy(s *spool, p piece) {
	if f.err == nil {
		f.err = s.copy(f.w, p)
	}
}

func (f *output) render(r *renderer, name string, data any) {
	if f.err != nil {
		return
	}
	r.reset()
	if f.err = r.execute(name, data); f.err == nil {
		f.write(r.out.Bytes())
	}
}
