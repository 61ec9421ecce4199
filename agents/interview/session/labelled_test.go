package session

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/internal/textfold"
	"github.com/rehearse-dev/rehearse/stat"
)

var (
	labelled = flag.String("labelled", "", "measure the recognition of titles with the labelled pairs of a `folder`, and list all errors")
)

// A titlePair is a title as a candidate typed it, with the title that a model writes.
type titlePair struct {
	Candidate string `yaml:"candidate"`
	Official  string `yaml:"official"`
	Lang      string `yaml:"lang"`
	How       string `yaml:"how"`
	Why       string `yaml:"why"`
}

type worksList struct {
	Text  string   `yaml:"text"`
	Lang  string   `yaml:"lang"`
	Works []string `yaml:"works"`
}

func readLabelled[T any](t testing.TB, path string) (all []T) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// recognized reports whether a question that names the official title names a work of the candidate.
func (p titlePair) recognized() bool {
	question := `In "` + p.Official + `", which character is most like you?`
	if p.Lang == "fr" {
		question = "Dans « " + p.Official + " », quel personnage te ressemble le plus ?"
	}
	return len(NewTitles(ParseWorks(p.Candidate)).Find(question)) > 0
}

// TestLabelled measures the recognition of titles with pairs that were written without sight of the rules.
func TestLabelled(t *testing.T) {
	folder := *labelled
	if folder == "" {
		folder = "testdata/titles/dev"
	}
	same := readLabelled[titlePair](t, filepath.Join(folder, "titles-same.yaml"))
	different := readLabelled[titlePair](t, filepath.Join(folder, "titles-different.yaml"))
	lists := readLabelled[worksList](t, filepath.Join(folder, "works-lists.yaml"))

	found, wrong, unrelated := 0, 0, 0
	for _, p := range same {
		if p.recognized() {
			found++
		} else if *labelled != "" {
			fmt.Printf("not recognized (%s): %q for %q\n", p.How, p.Candidate, p.Official)
		}
	}
	for _, p := range different {
		if p.recognized() {
			wrong++
			if p.Why == "unrelated" {
				unrelated++
			}
			if *labelled != "" {
				fmt.Printf("wrong (%s): %q for %q\n", p.Why, p.Candidate, p.Official)
			}
		}
	}
	read := 0
	for _, l := range lists {
		if got := ParseWorks(l.Text); sameWorks(got, l.Works) {
			read++
		} else if *labelled != "" {
			fmt.Printf("list %q: got %q, want %q\n", l.Text, got, l.Works)
		}
	}
	report := func(what string, k, n int) {
		rate := stat.Proportion(k, n, 0.95)
		t.Logf("%s: %d of %d, %.1f %% [%.1f, %.1f]", what, k, n, 100*rate.Value, 100*rate.Interval.Lo, 100*rate.Interval.Hi)
	}
	report("spellings recognized", found, len(same))
	report("other works recognized", wrong, len(different))
	report("unrelated works recognized", unrelated, 40)
	report("answers read as labelled", read, len(lists))
}

func sameWorks(got, want []string) bool {
	return slices.EqualFunc(got, want, func(a, b string) bool { return textfold.Join(a) == textfold.Join(b) })
}
