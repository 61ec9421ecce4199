package view

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/page"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

// source is the recording of a run.
type source struct {
	id   string
	run  *history.Run // nil for a run in progress
	from *opened
	list rundir.Listing
}

// source finds the recording of a run, and checks that it is still that of the run.
func (s *Server) source(ctx context.Context, id string) (src source, err error) {
	src.id = id
	folder := s.liveFolder(id)
	if folder == "" {
		if src.run, err = s.runOf(ctx, id); err != nil {
			return src, err
		}
		src.id, folder = src.run.ID, src.run.Folder
		if folder == "" {
			return src, notFound("the history does not know the folder of run %s", src.id)
		}
	}
	src.from = s.open(folder)
	src.list, err = src.from.trials.List()
	if errors.Is(err, fs.ErrNotExist) {
		return src, &failure{
			http.StatusNotFound, fmt.Errorf("the recording of run %s is no longer in %s", src.id, folder),
			"its results are in the history, but not its transcripts",
		}
	}
	if err != nil {
		return src, fmt.Errorf("run %s: %w", src.id, err)
	}
	if r := src.run; r != nil && (src.list.Run.ID != r.Plan || src.list.Bytes != r.Bytes) {
		return src, &failure{
			http.StatusNotFound, fmt.Errorf("the folder %s has the recording of another run than %s", folder, r.ID),
			"a later run was written to the same folder, or the recording was changed",
		}
	}
	return src, nil
}

// runOf returns a run of the history without its results.
func (s *Server) runOf(ctx context.Context, id string) (*history.Run, error) {
	st, err := s.past(ctx)
	if err != nil {
		return nil, err
	}
	if st == nil {
		return nil, notFound("there is no run %.100q", id)
	}
	defer func() { _ = st.Close() }() // it was only read
	return findRun(ctx, st, id)
}

// trialsOf returns the numbers of the complete trials of a scenario.
func (src *source) trialsOf(scenario string) ([]int, error) {
	i := slices.IndexFunc(src.list.Scenarios, func(x rundir.ListedScenario) bool { return x.Name == scenario })
	if i < 0 {
		return nil, notFound("run %s has no scenario %.200q in its recording", src.id, scenario)
	}
	return src.list.Scenarios[i].Trials, nil
}

// crumbs lead to the run and to a scenario of it.
func (src *source) crumbs(scenario string) []crumb {
	list := []crumb{{"/", "Runs"}, {runLink(src.id), "Run " + src.id}}
	if scenario != "" {
		list = append(list, crumb{scenarioLink(src.id, scenario), scenario})
	}
	return list
}

// trialPage is the transcript of a trial.
type trialPage struct {
	frame
	Scenario record.Scenario
	N, Of    int
	Previous string
	Next     string
	Trend    string
	Content  template.HTML
	Problems []string
}

func (s *Server) trial(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		return notFound("%.50q is not the number of a trial", r.PathValue("n"))
	}
	src, err := s.source(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	numbers, err := src.trialsOf(name)
	if err != nil {
		return err
	}
	p := trialPage{
		frame: s.frame(fmt.Sprintf("Trial %d of %s", n, name), src.crumbs(name)...), N: n, Of: len(numbers),
		Trend: trendLink(name, src.variant()),
	}
	if i := slices.Index(numbers, n); i >= 0 {
		if i > 0 {
			p.Previous = trialLink(src.id, name, numbers[i-1])
		}
		if i+1 < len(numbers) {
			p.Next = trialLink(src.id, name, numbers[i+1])
		}
	}
	err = src.from.trials.Each(r.Context(), name, []int{n}, func(j *rundir.JudgedTrial) error {
		p.Scenario, p.Problems = j.Scenario, j.Problems
		if j.Trial == nil {
			return nil
		}
		var err error
		p.Content, err = page.Trial(&j.Scenario, j.Trial, &j.Facts, j.Findings)
		return err
	})
	if err != nil {
		return err
	}
	show(w, http.StatusOK, "trial-page", p)
	return nil
}

// Variant is that of the run.
func (src *source) variant() string {
	if src.run != nil {
		return src.run.Variant
	}
	return src.list.Run.Labels["variant"]
}

// The limits of the trials that the page of a scenario reads.
const (
	maxGrouped = 500
	maxSample  = 600 // characters of an output
)

// scenarioPage is a scenario of a run: its measures, and its trials grouped by their output.
type scenarioPage struct {
	frame
	Name, Trend string
	Scenario    record.Scenario
	Facts       template.HTML
	Measures    template.HTML
	Groups      []*group
	Read, Of    int
	Problems    []string
}

// group are trials with the same output and verdict.
type group struct {
	Verdict gate.Verdict
	Status  string
	Output  string
	Trials  []trialRef
	More    int
	Finding string
}

// trialRef is a link to a trial.
type trialRef struct {
	N    int
	Link string
}

// maxRefs limits the links to trials of a group.
const maxRefs = 40

func (s *Server) scenario(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	src, err := s.source(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	numbers, err := src.trialsOf(name)
	if err != nil {
		return err
	}
	p := scenarioPage{frame: s.frame(name, src.crumbs("")...), Name: name, Trend: trendLink(name, src.variant()), Of: len(numbers)}
	numbers = numbers[:min(len(numbers), maxGrouped)]
	p.Read = len(numbers)
	groups := map[[sha256.Size]byte]*group{}
	if p.Scenario, err = src.from.trials.Scenario(name); err != nil {
		return err
	}
	err = src.from.trials.Each(r.Context(), name, numbers, func(j *rundir.JudgedTrial) error {
		p.Problems = append(p.Problems, j.Problems...)
		if j.Trial == nil {
			return nil
		}
		output := outputOf(j)
		verdict := gate.VerdictOf(j.Findings)
		key := sha256.Sum256([]byte(string(verdict) + "\x00" + output))
		g := groups[key]
		if g == nil {
			g = &group{Verdict: verdict, Status: j.Facts.Run.Status, Output: sanitize.Text(output, maxSample)}
			if len(j.Findings) > 0 {
				g.Finding = sanitize.Line(j.Findings[0].Rule+": "+j.Findings[0].Message, maxSample)
			}
			groups[key] = g
			p.Groups = append(p.Groups, g)
		}
		if n := j.Trial.Head.N; len(g.Trials) < maxRefs {
			g.Trials = append(g.Trials, trialRef{n, trialLink(src.id, name, n)})
		} else {
			g.More++
		}
		return nil
	})
	if err != nil && !errors.Is(err, rundir.ErrTrialTooLarge) {
		return err
	} else if err != nil {
		p.Problems = append(p.Problems, err.Error())
	}
	slices.SortStableFunc(p.Groups, func(a, b *group) int {
		return cmp.Or(urgency(a.Verdict)-urgency(b.Verdict), len(b.Trials)+b.More-len(a.Trials)-a.More)
	})
	p.Facts = doc.Fragment([]doc.Block{scenarioFacts(&p.Scenario)}, 2)
	if p.Measures, err = s.measures(r.Context(), &src, name); err != nil {
		return err
	}
	show(w, http.StatusOK, "scenario-page", p)
	return nil
}

// outputOf returns what a trial answered.
func outputOf(j *rundir.JudgedTrial) string {
	if answers := j.Facts.Answers; len(answers) > 0 {
		return strings.Join(answers, "\n")
	}
	return j.Trial.End.Text
}

func scenarioFacts(sc *record.Scenario) doc.Facts {
	var facts doc.Facts
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, doc.Fact{Name: name, Value: doc.Line(doc.Quote(value))})
		}
	}
	add("file", sc.File)
	add("kind of agent", sc.Agent)
	add("backend", sc.Backend)
	add("model", sc.Model)
	add("seed", strconv.FormatUint(sc.Seed, 10))
	add("digest", sc.Digest)
	for _, p := range sc.Perturb {
		add("perturbed by", p)
	}
	return facts
}

// measures returns the table of the measures of a scenario of the history.
func (s *Server) measures(ctx context.Context, src *source, scenario string) (template.HTML, error) {
	if src.run == nil {
		return "", nil
	}
	st, e, err := s.entry(ctx, src.id)
	if err != nil {
		return "", err
	}
	_ = st.Close() // it was only read
	i := slices.IndexFunc(e.Results, func(x history.Result) bool { return x.Name == scenario })
	if i < 0 {
		return "", nil
	}
	t := doc.Table{Noun: "measures", Columns: []doc.Column{
		{Head: doc.Line("measure")}, {Head: doc.Line("mean"), Right: true}, {Head: doc.Line("interval")}, {Head: doc.Line("n"), Right: true},
	}}
	for _, m := range e.Results[i].Measures {
		value, interval := "unknown", ""
		if m.Known && m.Value != nil {
			value = format.Amount(*m.Value, m.Unit)
		}
		if in := m.Interval; in != nil {
			interval = format.Interval(in.Level, in.Lo, in.Hi, m.Unit)
		}
		t.Rows = append(t.Rows, []doc.Text{doc.Line(doc.Quote(m.Name)), doc.Line(value), doc.Line(interval), doc.Line(m.N)})
	}
	return doc.Fragment([]doc.Block{t}, 2), nil
}
