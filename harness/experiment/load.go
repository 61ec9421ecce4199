package experiment

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// The defaults of a file.
const (
	defaultAlpha = 0.05
	defaultPower = 0.8
	// manyScenarios is the number of scenarios from which on they are treated as a sample.
	manyScenarios = 10
)

// Experiment is an experiment file with everything it refers to, ready to run.
type Experiment struct {
	file       File
	path       string
	folder     fs.FS
	options    scenarios.Options
	language   *gate.Language
	patterns   []string // that select the scenarios
	design     result.Design
	quantities []measured // the primary one first
	variants   []variant
	training   []string // names of scenarios that are not held out
	search     *search  // nil without tune
	digest     string
}

// variant is a variant with its scenarios, which have the same order in all variants.
type variant struct {
	name, about string
	set         []setting
	scenarios   []scenarios.Scenario
}

// Load reads an experiment file with the scenarios and texts that it names. It reports all errors
// with their positions; an experiment with diagnostics cannot be run. language compiles the
// measures, and measures and judges the trials; opts are the options for scenario files.
func Load(path string, language *gate.Language, opts scenarios.Options) (*Experiment, yamlsrc.Diagnostics) {
	data, err := readFile(path)
	if err != nil {
		return nil, yamlsrc.Diagnostics{{File: path, Message: "cannot be read: " + sanitize.WithoutPath(err).Error()}}
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, yamlsrc.Diagnostics{{File: path, Message: "cannot be read: " + sanitize.WithoutPath(err).Error()}}
	}
	defer root.Close()
	e := &Experiment{path: filepath.ToSlash(filepath.Clean(path)), folder: root.FS(), options: opts, language: language}
	// Names are also looked up beside the experiment's file, from wherever it is run.
	e.options.Folders = append(slices.Clone(opts.Folders), filepath.Join(filepath.Dir(path), scenarios.OwnFolder))
	l := &loader{Experiment: e}
	l.doc, l.decoding = yamlsrc.Decode(e.path, data, &e.file)
	l.found = l.decoding
	if l.doc.Has("") {
		l.load(data)
	}
	l.found.Sort()
	if len(l.found) > 0 {
		return nil, l.found
	}
	return e, nil
}

// readFile reads a regular file of a reasonable size.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	case info.Size() > yamlsrc.MaxBytes:
		return nil, fmt.Errorf("the file has %d bytes; at most %d are allowed", info.Size(), yamlsrc.MaxBytes)
	}
	return os.ReadFile(path)
}

// loader collects the problems of an experiment.
type loader struct {
	*Experiment
	doc      *yamlsrc.Document
	decoding yamlsrc.Diagnostics
	found    yamlsrc.Diagnostics
}

// add reports a problem at a path, unless decoding failed there already.
func (l *loader) add(path, nearest, format string, args ...any) {
	if !l.decoding.About(path) {
		l.found = append(l.found, l.doc.At(path, fmt.Sprintf(format, args...), nearest))
	}
}

var (
	namePattern  = lazyregexp.New(`^[a-z0-9][a-z0-9._-]*$`)
	titlePattern = lazyregexp.New(`^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$`)
)

func (l *loader) load(data []byte) {
	f := &l.file
	if !titlePattern().MatchString(f.Name) {
		l.add("name", "", `%q is not a name; write lower-case letters, digits, ".", "_" and "-" in parts between slashes, `+
			`such as "interview/mirror"`, f.Name)
	}
	l.measures()
	l.names()
	base := l.base()
	if len(base) > 0 {
		base = l.part(base)
	}
	if len(base) > 0 {
		l.variations(base)
		l.designed(len(base))
		l.tuning(namesOf(base))
	}
	l.digested(data)
}

func (l *loader) measures() {
	for i, m := range append([]Measure{l.file.Primary}, l.file.Secondary...) {
		if !namePattern().MatchString(m.Name) {
			l.add(measurePath(i, "name"), "", `%q is not a name; write lower-case letters, digits, ".", "_" and "-"`, m.Name)
			continue
		}
		l.quantities = append(l.quantities, quantityOf(m, l.language, func(key, nearest string, err error) {
			l.add(measurePath(i, key), nearest, "%v", err)
		}))
	}
	if i := firstRepeated(l.quantities); i >= 0 {
		l.add(measurePath(i, "name"), "", "the measure %q is given twice", l.quantities[i].Name)
	}
}

// names checks the names of variants.
func (l *loader) names() {
	var all []string
	for i, v := range l.file.Variants {
		path := fmt.Sprintf("variants[%d].name", i)
		switch {
		case !namePattern().MatchString(v.Name):
			l.add(path, "", `%q is not a name; write lower-case letters, digits, ".", "_" and "-"`, v.Name)
		case slices.Contains(all, v.Name):
			l.add(path, "", "the name %q is used by an earlier variant", v.Name)
		}
		all = append(all, v.Name)
	}
	f := &l.file
	switch {
	case f.Tune == nil && len(all) < 2:
		l.add("variants", "", "there is nothing to compare; write at least two variants, or tune to search for one")
	case f.Tune != nil && len(all) == 0:
		l.add("variants", "", "tune.base needs a variant; write the variant that it names")
	}
	if f.Against != "" && !slices.Contains(all, f.Against) {
		l.add("against", suggest.Nearest(f.Against, all), "there is no variant %q", f.Against)
	}
}

// base reads the scenarios without settings.
func (l *loader) base() []scenarios.Scenario {
	if len(l.file.Scenarios) == 0 {
		l.add("scenarios", "", "no scenarios; name files, folders or shipped scenarios such as 'loop/*'")
		return nil
	}
	if !l.selects() {
		return nil
	}
	set, found := scenarios.Load(l.patterns, l.options)
	if len(found) > 0 {
		l.found = append(l.found, found...)
		return nil
	}
	for i := range set {
		set[i].Expect.Snapshot = nil // variants may differ from it
	}
	return set
}

// selects converts the patterns of the file to those of scenarios.Load, with paths relative to the
// experiment's file. It returns false if one of them is wrong.
func (l *loader) selects() bool {
	right := true
	folder := filepath.Dir(l.path)
	for i, p := range l.file.Scenarios {
		at := fmt.Sprintf("scenarios[%d]", i)
		local := p
		if !filepath.IsAbs(p) {
			local = filepath.Join(folder, filepath.FromSlash(p))
		}
		matches, err := filepath.Glob(local)
		switch {
		case err != nil:
			l.add(at, "", "the pattern %q is not valid: %v", p, err)
		case len(matches) > 0:
			l.patterns = append(l.patterns, matches...)
			continue
		case strings.HasSuffix(p, ".yaml") || strings.HasSuffix(p, ".yml"):
			l.add(at, "", "no file matches %q; patterns are relative to the experiment's file", p)
		default: // a shipped scenario, or an error that Load reports
			l.patterns = append(l.patterns, p)
			continue
		}
		right = false
	}
	return right
}

// variations reads the scenarios with the settings of each variant.
func (l *loader) variations(base []scenarios.Scenario) {
	keep := namesOf(base)
	for i, v := range l.file.Variants {
		path := fmt.Sprintf("variants[%d].set", i)
		made := variant{name: v.Name, about: v.About}
		bad := false
		made.set = settings(v.Set, l.folder, func(key string, err error) {
			bad = true
			l.add(yamlsrc.Join(path, key), "", "%v", err)
		})
		if bad {
			continue
		}
		var found []problem
		made.scenarios, found = l.varied(made.set, keep)
		if len(found) > 0 {
			l.unfit(path, made.set, found)
			continue
		}
		j := slices.IndexFunc(l.variants, func(other variant) bool { return same(other.scenarios, made.scenarios) })
		if j >= 0 && l.file.Tune == nil {
			l.add(fmt.Sprintf("variants[%d].name", i), "", "%s is the same as %s: every scenario is equal with either; change or remove one",
				v.Name, l.variants[j].name)
		}
		l.variants = append(l.variants, made)
	}
}

// problem is a problem of a scenario after settings were applied.
type problem struct {
	scenario string
	yamlsrc.Diagnostic
}

// varied reads the scenarios after applying settings.
func (e *Experiment) varied(set []setting, keep []string) ([]scenarios.Scenario, []problem) {
	opts := e.options
	opts.Edit = func(_ string, text []byte) ([]byte, error) { return edit(text, set) }
	all, found := scenarios.Load(e.patterns, opts)
	var problems []problem
	for _, d := range found {
		problems = append(problems, problem{d.File, d})
	}
	all = slices.DeleteFunc(all, func(sc scenarios.Scenario) bool { return !slices.Contains(keep, sc.Name) })
	for i := range all {
		sc := &all[i]
		sc.Trials, sc.Expect.Snapshot = e.file.Trials, nil
		// Scenarios with the same seed, such as the default one, would have equal randomness and
		// dependent trials.
		sc.Seed = draw(e.file.Seed^sc.Seed, sc.Name)
	}
	return all, problems
}

// unfit reports the problems of changed scenarios at the settings that caused them.
func (l *loader) unfit(path string, set []setting, found []problem) {
	reported := map[string]bool{}
	for _, p := range found {
		at := path
		for _, s := range set {
			if (yamlsrc.Diagnostics{{Path: p.Path}}).About(s.path) {
				at = yamlsrc.Join(path, s.path)
			}
		}
		if reported[at] { // the same in every scenario
			continue
		}
		reported[at] = true
		message := p.Message
		if p.Path != "" {
			message = p.Path + ": " + message
		}
		if p.Expected != "" {
			message += "; expected " + p.Expected
		}
		l.add(at, p.Nearest, "this makes the scenario %s invalid: %s", p.scenario, message)
	}
}

func namesOf(all []scenarios.Scenario) []string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names
}

// same reports whether two lists of scenarios are equal.
func same(a, b []scenarios.Scenario) bool {
	return slices.EqualFunc(a, b, func(x, y scenarios.Scenario) bool {
		x.Digest, y.Digest, x.Where, y.Where, x.Files, y.Files = "", "", nil, nil, nil, nil
		return reflect.DeepEqual(x, y)
	})
}

// designed applies defaults that depend on the scenarios.
func (l *loader) designed(n int) {
	f := &l.file
	d := result.Design{
		Trials: f.Trials, Seed: f.Seed, Alpha: cmp.Or(f.Alpha, defaultAlpha), Power: cmp.Or(f.Power, defaultPower),
		Scope: result.Scope(f.Scope), Against: f.Against, Spending: "none", Looks: 1, MaxCalls: f.Caps.Calls,
	}
	if !f.Caps.Cost.IsZero() {
		d.MaxCost = f.Caps.Cost.String()
	}
	if d.Scope == "" {
		d.Scope = result.These
		if n >= manyScenarios {
			d.Scope = result.Alike
		}
	}
	if d.Scope == result.Alike && n < 2 {
		l.add("scope", "", "one scenario is not a sample of similar ones; write scope: these, or more scenarios")
	}
	for i, q := range l.quantities {
		if i == 0 {
			d.Primary = q.Measure
		} else {
			d.Secondary = append(d.Secondary, q.Measure)
		}
	}
	if f.Stop != nil {
		d.Spending = cmp.Or(f.Stop.Spending, "obrien-fleming")
		d.Source = "Lan and DeMets, Biometrika 70, 1983"
		d.Looks = f.Stop.Looks
		if f.Stop.Looks > f.Trials {
			l.add("stop.looks", "", "%d looks at %d trials: there is at most one look for each trial", f.Stop.Looks, f.Trials)
		}
	}
	l.design = d
}

// digested hashes everything that decides what is run.
func (l *loader) digested(data []byte) {
	sum := sha256.New()
	part := func(text string) {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(text)))
		sum.Write(length[:])
		sum.Write([]byte(text))
	}
	part(schema)
	part(string(data))
	for _, v := range l.variants {
		part(v.name)
		for i := range v.scenarios {
			part(v.scenarios[i].Name)
			part(v.scenarios[i].Digest)
		}
	}
	l.digest = "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// Live reports whether any variant calls a live model, or has a live judge.
func (e *Experiment) Live() bool {
	return slices.ContainsFunc(e.variants, func(v variant) bool { return v.live() })
}

func (v *variant) live() bool {
	return slices.ContainsFunc(v.scenarios, func(sc scenarios.Scenario) bool { return len(sc.LiveBackends()) > 0 })
}
