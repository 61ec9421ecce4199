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
	top, err := b.top(in)
	if err != nil {
		return err
	}
	list, err := b.list(in.Report)
	if err != nil {
		return err
	}
	left := b.choose(list, b.spool.limit-len(top))
	out := &output{w: w}
	out.write(top)
	out.render(&b.page, "list", b.listHead(in.Report, list, left))
	for i := range list {
		b.item(out, &list[i])
	}
	out.render(&b.page, "end", htmlpage.Frame{Tool: line(in.Report.Run.Tool, 100)})
	if out.err != nil {
		return fmt.Errorf("write the page: %w", out.err)
	}
	return nil
}

// item is a scenario in the list.
type item struct {
	head    piece
	of      *scenario
	row     row
	without reports.Count
}

// top renders the page above the list.
func (b *Builder) top(in Input) ([]byte, error) {
	b.page.reset()
	if err := b.page.execute("page", b.summary(in)); err != nil {
		return nil, fmt.Errorf("render the summary: %w", err)
	}
	return bytes.Clone(b.page.out.Bytes()), nil
}

// list renders the heads of the scenarios, by urgency, until half of the page is full.
func (b *Builder) list(r reports.Report) ([]item, error) {
	var list []item
	used := 0
	for i, s := range reports.ByUrgency(r.Scenarios) {
		sc := b.scenario(s.Name)
		it := item{of: sc, row: b.row(s, i), without: sc.without}
		it.row.Open = len(r.Scenarios) == 1
		b.page.reset()
		if err := b.page.execute("scenario", b.section(s, it.row)); err != nil {
			return nil, fmt.Errorf("render scenario %s: %w", s.Name, err)
		}
		if used += b.page.out.Len(); used > b.spool.limit/2 {
			break
		}
		var err error
		if it.head, err = b.spool.add(b.page.out.Bytes(), failing); err != nil {
			return nil, fmt.Errorf("keep scenario %s for the page: %w", s.Name, err)
		}
		list = append(list, it)
	}
	return list, nil
}

// reserve is the room for the markup around scenarios.
const reserve = 64 << 10

// choose decides which trials keep their details, and counts the others.
func (b *Builder) choose(list []item, room int) (left reports.Count) {
	var pieces []*piece
	room -= reserve
	for i := range list {
		const ends = 300 // bytes that end a scenario
		room -= list[i].head.size + ends
		for j := range list[i].of.trials {
			pieces = append(pieces, &list[i].of.trials[j])
		}
	}
	slices.SortStableFunc(pieces, func(a, b *piece) int { return int(a.at - b.at) })
	choose(pieces, room)
	for i := range list {
		it := &list[i]
		for _, p := range it.of.trials {
			if !p.shown {
				it.without.Add(p.verdict)
			}
		}
		left.Pass += it.without.Pass
		left.Fail += it.without.Fail
		left.Error += it.without.Error
		left.Skip += it.without.Skip
	}
	return left
}

func (b *Builder) item(out *output, it *item) {
	out.copy(&b.spool, it.head)
	for _, p := range it.of.trials {
		if p.shown {
			out.copy(&b.spool, p)
		}
	}
	out.render(&b.page, "scenario-end", without(it.without))
}

// listHead is the part above the list of scenarios.
type listHead struct {
	LeftOut  string
	Verdicts []choice
	Agents   []string
	Tags     []string
	Count    string
}

type choice struct {
	verdict
	N int
}

// maxChoices limits the agents and tags to filter by.
const maxChoices = 200

func (b *Builder) listHead(r reports.Report, list []item, left reports.Count) listHead {
	h := listHead{Count: count(len(list), "scenario")}
	if n := len(r.Scenarios) - len(list); n > 0 {
		h.LeftOut = fmt.Sprintf("%s of %s are left out, passed ones first: a page has a size limit. ",
			format.Number(float64(n)), count(len(r.Scenarios), "scenario"))
	}
	if text := without(left); text != "" {
		h.LeftOut += fmt.Sprintf("There are %s: the page would be larger than %s MB. "+
			"Failed trials and the first trial of each scenario have priority.",
			text, format.Number(float64(b.spool.limit)/1e6))
	}
	if h.LeftOut != "" {
		h.LeftOut = strings.TrimSpace(h.LeftOut + " " + b.more)
	}
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
