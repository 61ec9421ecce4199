package session

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// An answer is what a candidate typed, with the choice that a person reads in it: "none" or "" without one.
type answer struct {
	Text   string   `yaml:"text"`
	Lang   string   `yaml:"lang"`
	Choice string   `yaml:"choice"`
	Works  []string `yaml:"works"`
}

// answerFiles are the files of labelled answers, with the reading that is measured.
var answerFiles = []struct {
	file string
	read func(answer) string
}{
	{"tone.yaml", func(a answer) string {
		register, ok := parseRegister(a.Text)
		if !ok {
			return "none"
		}
		return string(register)
	}},
	{"medium.yaml", func(a answer) string {
		medium, ok := parseMedium(a.Text)
		if !ok {
			return "none"
		}
		return string(medium)
	}},
	{"core.yaml", func(a answer) string {
		if core := parseCore(a.Text, a.Works); slices.Contains(a.Works, core) {
			return core
		}
		return ""
	}},
}

// leastUnderstood returns the share of the answers in a file of a folder that are read as labelled, below which a change of
// the parser is a mistake.
func leastUnderstood(folder string) float64 {
	if isUnseen(folder) {
		return 0.9
	}
	return 0.95
}

// TestLabelledAnswers measures how short answers are read, with answers that were written without sight of the rules:
// go test ./agents/interview/session -run TestLabelledAnswers -v
func TestLabelledAnswers(t *testing.T) {
	for _, folder := range labelledFolders(t, "answers", "tone.yaml") {
		for _, f := range answerFiles {
			t.Run(filepath.Base(folder)+"/"+f.file, func(t *testing.T) {
				all := readLabelled[answer](t, filepath.Join(folder, f.file))
				wrong := 0
				rate := share(t, "read as labelled", len(all), func(i int) (bool, string) {
					a, got := all[i], f.read(all[i])
					if got != a.Choice && got != "none" && got != "" {
						wrong++
					}
					return got == a.Choice, fmt.Sprintf("%q: got %q, want %q", a.Text, got, a.Choice)
				})
				t.Logf("another choice read than the label: %d of %d", wrong, len(all))
				if least := leastUnderstood(folder); rate < least && *labelled == "" {
					t.Errorf("fewer than %v of the answers are read as labelled", least)
				}
			})
		}
	}
}
