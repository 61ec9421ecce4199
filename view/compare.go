package view

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

// comparePage compares two runs.
type comparePage struct {
	frame
	A, B    runRow
	Verdict gate.Verdict
	Summary template.HTML
	Content template.HTML
}

func (s *Server) compare(w http.ResponseWriter, r *http.Request) error {
	a, b := chosen(r.URL.Query())
	if a == "" || b == "" {
		return &failure{
			http.StatusBadRequest, errors.New("name two runs, with the parameters a and b"), "tick two runs in the list, and choose Compare",
		}
	}
	if name := r.FormValue("scenario"); name != "" {
		return s.outputs(w, r, a, b, name)
	}
	before, err := s.side(r.Context(), a)
	if err != nil {
		return err
	}
	after, err := s.side(r.Context(), b)
	if err != nil {
		return err
	}
	for _, e := range []*history.Entry{&before, &after} {
		if !e.Kind.HasResults() {
			return &failure{
				http.StatusBadRequest, fmt.Errorf("run %s is of the kind %s, which cannot be compared", e.ID, e.Kind),
				"compare two runs of scenarios",
			}
		}
	}
	result := rundir.Compare(rundir.SideOf(before.ID, &before), rundir.SideOf(after.ID, &after))
	d := reports.ComparisonDocument(&result, func(scenario string) string { return compareLink(before.ID, after.ID, scenario) })
	p := comparePage{
		frame: s.frame("Comparison", crumb{"/", "Runs"}), A: newRunRow(&before.Run), B: newRunRow(&after.Run), Verdict: result.Verdict,
		Summary: doc.Fragment([]doc.Block{doc.Paragraph(d.Summary)}, 2), Content: doc.Fragment(append(d.Lead, d.Body...), 2),
	}
	show(w, http.StatusOK, "compare", p)
	return nil
}

// side returns a run with its results.
func (s *Server) side(ctx context.Context, id string) (history.Entry, error) {
	st, e, err := s.entry(ctx, id)
	if err != nil {
		return e, err
	}
	return e, st.Close()
}

// outputsPage has the outputs of a trial in two runs side by side.
type outputsPage struct {
	frame
	Name string
	// Compare is the address of the comparison, and Self that of this page without the trial.
	Compare, Self string

	N        int
	Trials   []trialRef
	Sides    []outputSide
	Equal    bool
	Diff     template.HTML
	Problems []string
}

// outputSide is the output of one run.
type outputSide struct {
	ID, Link, Trial string
	Verdict         gate.Verdict
	Output          string
	Findings        []string
	Missing         string
}

// maxOutput limits an output, in characters.
const maxOutput = 64 << 10

func (s *Server) outputs(w http.ResponseWriter, r *http.Request, a, b, name string) error {
	n := max(1, number(r, "trial", 1))
	p := outputsPage{frame: s.frame("Outputs of "+name, crumb{"/", "Runs"}, crumb{compareLink(a, b, ""), "Comparison"}), Name: name, N: n}
	p.Compare, p.Self = compareLink(a, b, ""), compareLink(a, b, name)
	var texts []string
	for _, id := range []string{a, b} {
		side, text, err := s.output(r.Context(), id, name, n, &p)
		if err != nil {
			return err
		}
		p.Sides, texts = append(p.Sides, side), append(texts, text)
	}
	p.Equal = texts[0] == texts[1]
	if !p.Equal {
		p.Diff = doc.Fragment([]doc.Block{doc.NewDiff(p.Sides[0].ID, p.Sides[1].ID, texts[0], texts[1])}, 3)
	}
	show(w, http.StatusOK, "outputs", p)
	return nil
}

// output reads the output of a trial of one run. A missing recording, scenario or trial is part of the page.
func (s *Server) output(ctx context.Context, id, name string, n int, p *outputsPage) (side outputSide, text string, err error) {
	run, err := s.runOf(ctx, id)
	if err != nil {
		return side, "", err
	}
	side.ID, side.Link = run.ID, runLink(run.ID)
	missing := func(err error) (outputSide, string, error) {
		if ctx.Err() != nil {
			return side, "", ctx.Err()
		}
		side.Missing = sanitize.Line(err.Error(), maxSample)
		return side, "", nil
	}
	src, err := s.source(ctx, run.ID)
	if err != nil {
		return missing(err)
	}
	numbers, err := src.trialsOf(name)
	if err != nil {
		return missing(err)
	}
	if len(p.Trials) == 0 && len(numbers) > 1 {
		for _, k := range numbers[:min(len(numbers), maxRefs)] {
			p.Trials = append(p.Trials, trialRef{k, fmt.Sprintf("%s&trial=%d", p.Self, k)})
		}
	}
	err = src.from.trials.Each(ctx, name, []int{n}, func(j *rundir.JudgedTrial) error {
		p.Problems = append(p.Problems, j.Problems...)
		if j.Trial == nil {
			side.Missing = "the trial is damaged"
			return nil
		}
		text = sanitize.Text(outputOf(j), maxOutput)
		side.Output, side.Verdict, side.Trial = text, gate.VerdictOf(j.Findings), trialLink(src.id, name, n)
		for _, f := range j.Findings[:min(len(j.Findings), 5)] {
			side.Findings = append(side.Findings, sanitize.Line(f.Rule+": "+f.Message, maxSample))
		}
		return nil
	})
	if err != nil {
		return missing(err)
	}
	return side, text, nil
}
