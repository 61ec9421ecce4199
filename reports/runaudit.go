package reports

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/trace"
)

// The schemas of the JSON forms of an Audit and an Integrity.
const (
	AuditSchema     = "rehearse.audit/1"
	IntegritySchema = "rehearse.verification/1"
)

// Audit is what a run proves and to whom: what was run, how, by whom and with what, and whether its files are intact.
type Audit struct {
	Schema string `json:"schema"`
	Report Report `json:"report"`
	// Exploration has all runs of an exploration, of which the report has those that were recorded; nil for other runs.
	Exploration *result.Exploration `json:"exploration,omitempty"`
	Origin      Origin              `json:"origin"`
	// Integrity is whether the files are as they were when the run ended.
	Integrity Integrity `json:"integrity"`
	// Scenarios are those of the recording, with digests, prices and the settings in force.
	Scenarios []record.Scenario `json:"scenarios"`
	// Commits are the last commits of the scenario files that differ from the baseline, in the repository of the
	// current folder.
	Commits []Commit `json:"commits,omitempty"`
	// Requirements are those of the configuration file with what the run proves; nil without a list.
	Requirements *trace.Table `json:"requirements,omitempty"`
}

// Integrity is what the files of a run prove.
type Integrity struct {
	Schema    string `json:"schema"`
	Recording string `json:"recording"`
	Intact    bool   `json:"intact"`
	Lines     int    `json:"lines"`
	LastHash  string `json:"last_hash"`
	// SHA256 is the hash of the file, in hex, as sha256sum prints it.
	SHA256   string   `json:"sha256"`
	Problems []string `json:"problems"`
	// Signed is true if a signed statement covers the files. Key is the fingerprint of the key in the signature, and
	// SignedBy the name and the fingerprint of the given key that made it.
	Signed   bool   `json:"signed"`
	Key      string `json:"key,omitempty"`
	SignedBy string `json:"signed_by,omitempty"`
}

// Commit is the last commit of a file.
type Commit struct {
	File    string `json:"file"`
	Hash    string `json:"hash"`
	Date    string `json:"date"` // YYYY-MM-DD
	Author  string `json:"author"`
	Subject string `json:"subject"`
}

// ChangedFiles returns the files of the scenarios whose content differs from the baseline, sorted.
func (a *Audit) ChangedFiles() []string {
	if a.Report.Comparison == nil {
		return nil
	}
	changed, files := map[string]bool{}, map[string]bool{}
	for _, c := range a.Report.Comparison.Changed {
		changed[c.Scenario] = c.What == "digest" && len(c.Files) == 0 || changed[c.Scenario]
		for _, file := range c.Files {
			files[file] = true
		}
	}
	for _, name := range a.Report.Comparison.New {
		changed[name] = true
	}
	for i := range a.Scenarios {
		if s := &a.Scenarios[i]; changed[s.Name] && s.File != "" {
			files[s.File] = true
		}
	}
	return slices.Sorted(maps.Keys(files))
}

// AuditJSON writes the audit as JSON.
func AuditJSON(w io.Writer, a *Audit) error { return format.JSON(w, a) }

// AuditDocument returns the audit as a document.
func AuditDocument(a *Audit) doc.Document {
	r := &a.Report
	d := doc.Document{
		Kind: "Audit of run", Name: doc.Line(doc.Quote(r.Run.ID)), Verdict: Word(*r), Tone: wordTone(*r), Summary: doc.Line(summary(*r)),
		Origin: append(a.Origin.Facts(), auditRun(r.Run)...), Lead: problems(*r), Static: true,
	}
	if x := a.Exploration; x != nil {
		explored := ExplorationDocument(x, nil)
		d.Summary = explored.Summary
		if OverallVerdict(r, *x) == x.Verdict() {
			d.Verdict, d.Tone = explored.Verdict, explored.Tone
		}
		d.Body = append(d.Body, explored.Section())
	}
	if a.Integrity.Intact {
		d.Body = append([]doc.Block{integritySection(&a.Integrity)}, d.Body...)
	} else {
		d.Verdict, d.Tone = "not intact", doc.Bad
		d.Lead = append([]doc.Block{integritySection(&a.Integrity)}, d.Lead...)
	}
	d.Body = append(d.Body, newSection("Results", doc.Plain, scenarioTable(r.Scenarios)))
	d.Body = append(d.Body, a.leftOut())
	d.Body = append(d.Body, a.changes()...)
	if a.Requirements != nil {
		d.Body = append(d.Body, a.Requirements.Document().Section())
	}
	_, found := chosen(*r, true)
	d.Body = append(d.Body, findingList(findingItems(found))...)
	d.Body = append(d.Body, definitions(a.Scenarios), expectations(a.Scenarios), auditPrices(a.Scenarios), settings(a.Scenarios),
		files(a.Scenarios), checkYourself(a))
	return d
}

// auditRun returns what the program and its prices were.
func auditRun(run Run) (list doc.Origin) {
	add := func(name, value string) { list = append(list, doc.Fact{Name: name, Value: doc.Line(doc.Quote(value))}) }
	add("program", run.Tool)
	for _, key := range slices.Sorted(maps.Keys(run.Labels)) {
		add("label "+key, run.Labels[key])
	}
	return append(list, run.Facts()...)
}

func integritySection(i *Integrity) doc.Section {
	s := newSection("Integrity", doc.Good)
	add := func(text ...any) { s.Blocks = append(s.Blocks, doc.Paragraph(doc.Line(text...))) }
	if !i.Intact {
		s.Tone, s.Title = doc.Bad, doc.Line(s.Title, ": ", doc.Toned(doc.Bad, "broken"))
		s.Blocks = append(s.Blocks, quoteList(i.Problems, "problems"))
		return s
	}
	add("The chain of hashes of the recording is unbroken: ", i.Lines, " lines, last hash ", doc.Quote(i.LastHash), ".")
	switch {
	case i.SignedBy != "":
		add("The run is signed by ", doc.Quote(i.SignedBy), ", and all files are as they were signed.")
	case i.Signed:
		s.Tone = doc.Unsure
		add("All files are as the signed statement says. Its key, ", doc.Quote(i.Key), ", was not compared with a known one: add --key.")
	default:
		s.Tone = doc.Unsure
		add("The run is not signed. The chain finds damage and single changes; it does not show who wrote the recording, ",
			"because whoever rewrites it can compute all hashes anew.")
	}
	return s
}

// leftOut lists what was skipped or not run, with the reasons.
func (a *Audit) leftOut() doc.Block {
	list, r := doc.List{Noun: "scenarios"}, &a.Report
	for _, s := range r.Scenarios {
		if s.Verdict == gate.Skip {
			list.Items = append(list.Items, doc.Item{Text: doc.Line(doc.Quote(s.Name), ": ", doc.Quote(s.skipMessage()))})
		}
	}
	for _, s := range r.Scenarios {
		if n := s.Trials.Total(); n < s.Planned {
			list.Items = append(list.Items, doc.Item{Text: doc.Line(doc.Quote(s.Name), ": ", n, " of ", format.Count(s.Planned, "trial"))})
		}
	}
	for _, name := range r.NotRun {
		list.Items = append(list.Items, doc.Item{Text: doc.Line(doc.Quote(name), ": not run")})
	}
	if x := a.Exploration; x != nil && x.NotRun > 0 {
		list.Items = append(list.Items, doc.Item{Text: doc.Line(format.Count(x.NotRun, "perturbed run"), ": ", doc.Quote(x.Stopped))})
	}
	switch {
	case len(list.Items) > 0 || r.Interrupted || r.Stopped != "" || len(r.Problems) > 0:
		if len(list.Items) == 0 {
			list.Items = []doc.Item{{Text: doc.Line("the recording is incomplete or was changed; what is missing is unknown")}}
		}
		return newSection("Skipped or not run", doc.Unsure, list)
	case a.Exploration != nil:
		return newSection("Skipped or not run", doc.Plain, doc.Paragraph(doc.Line("Nothing: every planned run was made.")))
	}
	return newSection("Skipped or not run", doc.Plain, doc.Paragraph(doc.Line("Nothing: every planned scenario was run.")))
}

// changes describes what differs from the baseline, and since which commits.
func (a *Audit) changes() []doc.Block {
	c := a.Report.Comparison
	if c == nil {
		return []doc.Block{newSection("Changes", doc.Plain, doc.Paragraph(doc.Line("The run was not compared with a baseline.")))}
	}
	s := newSection("Changes", verdictTone(c.Verdict), comparisonDocument(c, nil, true).Section())
	if len(a.Commits) > 0 {
		t := doc.Table{
			Caption: "Last commits of the changed files", Noun: "files",
			Columns: doc.Columns(5, "file", "commit", "date", "author", "subject"),
		}
		for _, x := range a.Commits {
			t.Rows = append(t.Rows, doc.Cells(doc.Quote(x.File), doc.Quote(x.Hash), doc.Quote(x.Date), doc.Quote(x.Author), doc.Quote(x.Subject)))
		}
		s.Blocks = append(s.Blocks, t)
	} else if len(a.ChangedFiles()) > 0 {
		s.Blocks = append(s.Blocks, doc.Paragraph(doc.Line("The last commits of the changed files are unknown: ",
			"git does not know them here, or not the commit of the run.")))
	}
	return []doc.Block{s}
}

// definitions lists which scenarios were run, by their digests.
func definitions(heads []record.Scenario) doc.Block {
	t := doc.Table{Noun: "scenarios", Columns: []doc.Column{
		{Head: doc.Line("scenario"), Shorten: true},
		{Head: doc.Line("agent"), Optional: true},
		{Head: doc.Line("model"), Shorten: true},
		{Head: doc.Line("trials"), Right: true},
		{Head: doc.Line("seed"), Right: true},
		{Head: doc.Line("proves"), Optional: true},
	}}
	for i := range heads {
		h := &heads[i]
		t.Rows = append(t.Rows, doc.Cells(doc.Quote(h.Name), doc.Quote(h.Agent), doc.Quote(h.Model), h.Trials, fmt.Sprint(h.Seed),
			doc.Quote(strings.Join(h.Proves, " "))))
	}
	return newSection("Scenarios", doc.Plain, t)
}

// expectations lists what each scenario expects, with its limits.
func expectations(heads []record.Scenario) doc.Block {
	list := doc.List{Noun: "scenarios"}
	for i := range heads {
		item := doc.Item{Text: doc.Line(doc.Quote(heads[i].Name))}
		for _, text := range compare.Expected(&heads[i]) {
			item.Items = append(item.Items, doc.Item{Text: doc.Line(doc.Quote(text))})
		}
		list.Items = append(list.Items, item)
	}
	return newSection("Expectations and limits", doc.Plain, list)
}

// shownDigest is how many hexadecimal digits of a hash are shown.
const shownDigest = 16

// files lists the files of the scenarios, and those of agents that their commands name, with the beginning of what sha256sum prints.
// The JSON form has all of it.
func files(heads []record.Scenario) doc.Block {
	t := doc.Table{Noun: "files", Columns: []doc.Column{{Head: doc.Line("file"), Shorten: true}, {Head: doc.Line("sha256")}}}
	known := map[string]bool{}
	for i := range heads {
		for name, sum := range heads[i].SourceFiles() {
			if row := name + " " + sum; !known[row] {
				known[row] = true
				t.Rows = append(t.Rows, doc.Cells(doc.Quote(name), doc.Quote(sum[:min(len(sum), shownDigest)]+"…")))
			}
		}
	}
	if len(t.Rows) == 0 {
		return newSection("Files", doc.Plain, doc.Paragraph(doc.Line("The recording names none.")))
	}
	return newSection("Files", doc.Plain, t)
}

// auditPrices lists the prices that costs were computed with.
func auditPrices(heads []record.Scenario) doc.Block {
	quotes, unknown := map[string]price.Quote{}, map[string]bool{}
	for i := range heads {
		switch h := &heads[i]; {
		case h.Price != nil:
			quotes[h.Price.Model] = *h.Price
		case h.Model != "":
			unknown[h.Model] = true
		}
		switch u := heads[i].User; {
		case u == nil:
		case u.Price != nil:
			quotes[u.Price.Model] = *u.Price
		case u.Model != "":
			unknown[u.Model] = true
		}
	}
	t := doc.Table{Noun: "models", Columns: append(doc.Columns(1, "model", "input", "cached", "written", "output"),
		doc.Columns(2, "currency", "date")...)}
	sources := doc.List{Noun: "sources"}
	number := func(v float64) string { return fmt.Sprintf("%g", v) }
	for _, model := range slices.Sorted(maps.Keys(quotes)) {
		q := quotes[model]
		t.Rows = append(t.Rows, doc.Cells(doc.Quote(q.Model), number(q.Input), number(q.CachedIn), number(q.CacheWrite), number(q.Output),
			doc.Quote(q.Currency), doc.Quote(q.Date)))
		sources.Items = append(sources.Items, doc.Item{Text: doc.Line(doc.Quote(q.Model), ": read at ", doc.Quote(q.Source))})
	}
	s := newSection("Prices of a million tokens", doc.Plain, t, sources)
	if len(unknown) > 0 {
		s.Blocks = append(s.Blocks, doc.Paragraph(doc.Line("Unknown, and with it the cost: ",
			doc.Quote(strings.Join(slices.Sorted(maps.Keys(unknown)), ", ")), ".")))
	}
	return s
}

// settings lists the settings of the agents that were in force; scenarios with equal settings share a list.
func settings(heads []record.Scenario) doc.Block {
	type group struct {
		agent string
		names []string
		facts map[string]string
	}
	var groups []*group
	by := map[string]*group{}
	for i := range heads {
		h := &heads[i]
		if len(h.Limits) == 0 {
			continue
		}
		key := h.Agent + string(h.Limits)
		if by[key] == nil {
			facts, err := compare.Settings(h)
			if err != nil {
				facts = map[string]string{"settings": "unreadable: " + err.Error()}
			}
			by[key] = &group{agent: h.Agent, facts: facts}
			groups = append(groups, by[key])
		}
		by[key].names = append(by[key].names, h.Name)
	}
	s := newSection("Settings in force", doc.Plain)
	for _, g := range groups {
		var facts doc.Facts
		for _, name := range slices.Sorted(maps.Keys(g.facts)) {
			facts = append(facts, doc.Fact{Name: name, Value: doc.Line(doc.Quote(g.facts[name]))})
		}
		title := doc.Line(doc.Quote(g.agent), ": ", doc.Quote(g.names[0]))
		if more := len(g.names) - 1; more > 0 {
			title = doc.Line(title, " and ", format.Count(more, "other scenario"))
		}
		s.Blocks = append(s.Blocks, doc.Section{Title: title, Blocks: []doc.Block{facts}})
	}
	if len(groups) == 0 {
		s.Blocks = append(s.Blocks, doc.Paragraph(doc.Line("The recording has none: these agents have no settings of their own.")))
	}
	return s
}

// checkYourself tells how to check the audit without this program.
func checkYourself(a *Audit) doc.Block {
	commands := []string{
		"sha256sum " + format.ShellLine(a.Integrity.Recording),
		"python3 examples/verify/verify.py " + format.ShellLine(a.Integrity.Recording),
		"python3 examples/verify/cost.py " + format.ShellLine(a.Integrity.Recording),
		format.ShellLine("rehearse", "report", a.Integrity.Recording, "--verify"),
	}
	if a.Integrity.Signed {
		commands[3] += " --key KEY.pub"
	}
	list := doc.List{Noun: "commands"}
	for _, c := range commands {
		list.Items = append(list.Items, doc.Item{Text: doc.Line(doc.Command(c))})
	}
	list.Items[0].Items = []doc.Item{{Text: doc.Line("prints ", doc.Quote(a.Integrity.SHA256))}}
	return newSection("Check it yourself", doc.Plain, doc.Paragraph(doc.Line(
		"docs/reference/recording.md of rehearse describes the recording. Its examples/verify has verifiers of 30 lines in Python and in ",
		"shell; every cost follows from the usage in the recording and the prices above.")), list)
}
