package session

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/internal/textfold"
	"github.com/rehearse-dev/rehearse/stat"
)

var labelled = flag.String("labelled", "", "measure with the labelled files in a `folder`, and list the errors")

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

// labelledFolders lists the folders with a labelled file: the one of -labelled, or those of the project.
func labelledFolders(t *testing.T, kind, file string) []string {
	pattern := filepath.Join("testdata", kind, "*", file)
	if *labelled != "" {
		pattern = filepath.Join(*labelled, file)
	}
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 && *labelled == "" {
		t.Fatalf("no file is at %s", pattern)
	}
	for i, file := range files {
		files[i] = filepath.Dir(file)
	}
	return files
}

// share logs the share of n cases that are right, with its interval, and with -labelled each miss.
func share(t *testing.T, what string, n int, right func(i int) (ok bool, miss string)) float64 {
	t.Helper()
	k := 0
	for i := range n {
		if ok, miss := right(i); ok {
			k++
		} else if *labelled != "" {
			t.Log(miss)
		}
	}
	rate := stat.Proportion(k, n, 0.95)
	t.Logf("%s: %d of %d, %.1f %% [%.1f, %.1f]", what, k, n, 100*rate.Value, 100*rate.Interval.Lo, 100*rate.Interval.Hi)
	return rate.Value
}

// TestLabelled measures the recognition of titles with pairs that were written without sight of the rules:
// go test ./agents/interview/session -run TestLabelled -v
func TestLabelled(t *testing.T) {
	for _, folder := range labelledFolders(t, "titles", "titles-same.yaml") {
		t.Run(filepath.Base(folder), func(t *testing.T) { measureTitles(t, folder) })
	}
}

// titleFloors are the rates below which a change of the rules is a mistake. Pairs of different works are more similar than in
// real answers.
type titleFloors struct{ recognized, apart, read float64 }

// floorsOf returns the floors for a folder. The rules were fitted to the texts of the others, not to those of unseen ones.
func floorsOf(folder string) titleFloors {
	if isUnseen(folder) {
		return titleFloors{recognized: 0.96, apart: 0.97, read: 0.84}
	}
	return titleFloors{recognized: 0.98, apart: 0.99, read: 0.85}
}

// isUnseen reports whether the author of the rules has not read the texts of a folder. Those of unseen1 were read.
func isUnseen(folder string) bool {
	name := filepath.Base(folder)
	return strings.HasPrefix(name, "unseen") && name != "unseen1"
}

func measureTitles(t *testing.T, folder string) {
	least := floorsOf(folder)
	same := readLabelled[titlePair](t, filepath.Join(folder, "titles-same.yaml"))
	if rate := share(t, "spellings recognized", len(same), func(i int) (bool, string) {
		p := same[i]
		return p.recognized(), fmt.Sprintf("not recognized (%s): %q for %q", p.How, p.Candidate, p.Official)
	}); rate < least.recognized && *labelled == "" {
		t.Errorf("fewer than %v of the spellings are recognized", least.recognized)
	}
	different := readLabelled[titlePair](t, filepath.Join(folder, "titles-different.yaml"))
	if rate := share(t, "other works told apart", len(different), func(i int) (bool, string) {
		p := different[i]
		return !p.recognized(), fmt.Sprintf("confused (%s): %q with %q", p.Why, p.Candidate, p.Official)
	}); rate < least.apart && *labelled == "" {
		t.Errorf("fewer than %v of the other works are told apart", least.apart)
	}
	lists := readLabelled[worksList](t, filepath.Join(folder, "works-lists.yaml"))
	if rate := share(t, "answers read as labelled", len(lists), func(i int) (bool, string) {
		got := ParseWorks(lists[i].Text)
		return sameWorks(got, lists[i].Works), fmt.Sprintf("%q: got %q, want %q", lists[i].Text, got, lists[i].Works)
	}); rate < least.read && *labelled == "" {
		t.Errorf("fewer than %v of the answers are read as labelled", least.read)
	}
}

func sameWorks(got, want []string) bool {
	return slices.EqualFunc(got, want, func(a, b string) bool { return textfold.Join(a) == textfold.Join(b) })
}
