package validate

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/stat"
)

var (
	labelledFolder = flag.String("labelled", "", "evaluate the rules on the labelled texts of this `folder`")
	labelledErrors = flag.Bool("errors", false, "with -labelled, list each error")
)

// labelled is a text with the label of a person.
type labelled struct {
	Text  string           `yaml:"text"`
	Lang  session.Language `yaml:"lang"`
	Label string           `yaml:"label"`
	Topic string           `yaml:"topic"`
	Form  string           `yaml:"form"`
}

// evaluation describes how the texts of a file are checked.
type evaluation struct {
	file  string
	rules []Rule
	in    func(text string, lang session.Language) (string, Expected)
}

// fillers are questions without findings, so that a batch has two.
var fillers = map[session.Language]string{
	session.French: "Quel geste de Driss te reste en tête ?", session.English: "Which gesture of Driss do you remember?",
}

func inBatch(step session.Step, filler map[session.Language]string) func(string, session.Language) (string, Expected) {
	return func(text string, lang session.Language) (string, Expected) {
		return filler[lang] + "\n" + separator + "\n" + text,
			Expected{Purpose: session.PurposeQuestions, Step: step, Language: lang}
	}
}

func asOption(text string, lang session.Language) (string, Expected) {
	return inBatch(session.Block2B, fillers)("Quel trait de Driss te parle ?\nA. "+text+"\nB. Driss éteint la lampe rouge à minuit", lang)
}

func asSection(text string, lang session.Language) (string, Expected) {
	sections := make([]string, len(profileParts))
	for i, p := range profileParts {
		sections[i] = p.name + "\nTu relis le devis d'Ines avant minuit, crayon rouge en main."
	}
	sections[0] = profileParts[0].name + "\n" + text
	return strings.Join(sections, "\n\n"), Expected{Purpose: session.PurposeProfile, Step: session.Block10, Language: lang}
}

func asPurpose(p session.Purpose, step session.Step) func(string, session.Language) (string, Expected) {
	return func(text string, lang session.Language) (string, Expected) {
		return text, Expected{Purpose: p, Step: step, Language: lang}
	}
}

var evaluations = []evaluation{
	{"zones-*", []Rule{ruleForbiddenZone}, inBatch(session.Block2B, fillers)},
	{"generic-trait", []Rule{ruleTraitGeneric}, asOption},
	{"score", []Rule{ruleScore}, asPurpose(session.PurposeMatching, session.Matching)},
	{"two-questions", []Rule{ruleQuestionSeveral}, inBatch(session.Block3, fillers)},
	{"tu-vous", []Rule{ruleAddress}, inBatch(session.Block3, nil)},
	{"not-a-question", []Rule{ruleNoQuestion}, inBatch(session.Block3, fillers)},
	{"empty-section", []Rule{ruleSectionEmpty}, asSection},
}

// reported returns whether a text has a finding of the rules, whether one refuses it, and the first one.
func (e evaluation) reported(l labelled) (found, refused bool, first string) {
	text, want := e.in(l.Text, l.Lang)
	for _, f := range Check(text, want).Findings {
		if slices.Contains(e.rules, f.Rule) {
			if !found {
				first = f.Message
			}
			found, refused = true, refused || !f.Warning
		}
	}
	return found, refused, first
}

// counts are the sums of a group of texts.
type counts struct{ bad, good, found, alarms, refused, blocked int }

func readLabelled(pattern string) ([]labelled, error) {
	files, err := filepath.Glob(pattern + ".yaml")
	if err != nil {
		return nil, err
	}
	var all []labelled
	for _, file := range files {
		data, err := os.ReadFile(file) //nolint:gosec // a folder that the caller names
		if err != nil {
			return nil, err
		}
		var part []labelled
		if err := yaml.Unmarshal(data, &part); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for i, l := range part {
			if l.Text == "" || !slices.Contains(session.Languages(), l.Lang) || l.Label != "good" && l.Label != "bad" {
				return nil, fmt.Errorf("%s: text %d needs a text, a language and the label good or bad", file, i+1)
			}
		}
		all = append(all, part...)
	}
	return all, nil
}

// evaluate measures the rules on the labelled texts of a folder.
func evaluate(folder string, list bool) (string, error) {
	var b bytes.Buffer
	for _, e := range evaluations {
		all, err := readLabelled(filepath.Join(folder, e.file))
		if err != nil {
			return "", err
		}
		sums := map[string]*counts{}
		var order, errors []string
		for _, l := range all {
			found, refused, first := e.reported(l)
			groups := []string{string(l.Lang), "all"}
			if l.Form != "" {
				groups = append(groups, l.Form)
			}
			for _, g := range groups {
				if sums[g] == nil {
					sums[g], order = &counts{}, append(order, g)
				}
				sums[g].add(l.Label == "bad", found, refused)
			}
			if found != (l.Label == "bad") {
				errors = append(errors, fmt.Sprintf("    %s %s %s: %s  [%s]\n", l.Label, l.Lang, l.Topic, strings.ReplaceAll(l.Text, "\n", " / "), first))
			}
		}
		if len(all) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s\n", e.file)
		slices.Sort(order)
		for _, g := range order {
			sums[g].print(&b, g)
		}
		if list {
			slices.Sort(errors)
			b.WriteString(strings.Join(errors, ""))
		}
	}
	return b.String(), nil
}

func (c *counts) add(bad, found, refused bool) {
	one := func(n *int, when bool) {
		if when {
			*n++
		}
	}
	one(&c.bad, bad)
	one(&c.good, !bad)
	one(&c.found, bad && found)
	one(&c.refused, bad && refused)
	one(&c.alarms, !bad && found)
	one(&c.blocked, !bad && refused)
}

func (c *counts) print(b *bytes.Buffer, group string) {
	fmt.Fprintf(b, "  %s, %d texts\n", group, c.bad+c.good)
	line := func(what string, k, n int) {
		if n == 0 {
			return
		}
		p := stat.Proportion(k, n, stat.Level)
		fmt.Fprintf(b, "    %-22s %3d of %3d = %.3f (%.3f to %.3f)\n", what, k, n, p.Value, p.Interval.Lo, p.Interval.Hi)
	}
	line("precision", c.found, c.found+c.alarms)
	line("recall", c.found, c.bad)
	line("  refused, not warned", c.refused, c.bad)
	line("false alarms", c.alarms, c.good)
	line("  refused, not warned", c.blocked, c.good)
}

// labelledFolders lists the folders of labelled texts: the one of -labelled, or those of the project.
func labelledFolders(t *testing.T) []string {
	if *labelledFolder != "" {
		return []string{*labelledFolder}
	}
	files, err := filepath.Glob("testdata/labelled/*/zones-plain.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("find labelled texts: %d files, error %v", len(files), err)
	}
	for i, file := range files {
		files[i] = filepath.Dir(file)
	}
	return files
}

// TestLabelled measures the rules by meaning and compares the figures with the golden files of the project. With
// -labelled and -v it prints the evaluation of another folder.
func TestLabelled(t *testing.T) {
	for _, folder := range labelledFolders(t) {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			own := *labelledFolder == ""
			text, err := evaluate(folder, own || *labelledErrors)
			switch {
			case err != nil:
				t.Fatal(err)
			case text == "":
				t.Fatalf("%s has no labelled texts", folder)
			case own:
				RegisterTestingT(t)
				golden.Expect("labelled-"+filepath.Base(folder)+".golden", []byte(text))
			default:
				t.Log("\n" + text)
			}
		})
	}
}
