package validate

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate/intrusion"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/stat"
)

var refit = flag.Bool("refit", false, "fit intrusion/weights.txt to the labelled texts again")

const weightsFile = "intrusion/weights.txt"

// penalty is the weight of the examples against the penalty on large weights.
const penalty = 1

// trainingText is a text to fit weights to.
type trainingText struct {
	intrusion.Example
	writer, form string
	lang         session.Language
}

// trainingTexts returns all labelled texts of the project in a fixed order: those on zones, natural ones of other rules,
// the labelled sentences, and the passages of the scripted replies.
func trainingTexts(t *testing.T) []trainingText {
	t.Helper()
	var all []trainingText
	for _, folder := range []string{"dev", "heldout", "train/a", "train/b", "train/c", "train/d", "train/own"} {
		for _, file := range []string{"zones-*", "two-questions", "tu-vous", "not-a-question"} {
			texts, err := readLabelled(filepath.Join("testdata/labelled", folder, file))
			if err != nil {
				t.Fatal(err)
			}
			zones := file == "zones-*"
			for _, l := range texts {
				if zones || len(findZones(l.Text)) == 0 {
					e := intrusion.Example{Text: l.Text, Private: zones && l.Label == "bad", Weight: 1}
					all = append(all, trainingText{e, folder, cmp.Or(l.Form, "other rule"), l.Lang})
				}
			}
		}
	}
	files, err := filepath.Glob("testdata/??-*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		for _, s := range sentences(name) {
			e := intrusion.Example{Text: s.text, Private: s.zone != "", Weight: 1}
			all = append(all, trainingText{e, "sentences", "sentence", session.Language(name[:2])})
		}
	}
	return append(all, scriptedPassages(t)...)
}

// replyWeight is the weight of a passage of the scripted replies.
const replyWeight = 0.5

func scriptedPassages(t *testing.T) []trainingText {
	t.Helper()
	var all []trainingText
	seen := map[string]bool{}
	err := fs.WalkDir(fixtures.Replies, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".md") {
			return err
		}
		data, err := fixtures.Replies.ReadFile(file)
		intrusion.Passages(string(data), func(text string, _ int) {
			if text = strings.TrimSpace(text); len(text) > 12 && !isSeparator(text) && !seen[text] {
				seen[text] = true
				all = append(all, trainingText{intrusion.Example{Text: text, Weight: replyWeight}, "replies", "reply", ""})
			}
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// newSet returns the texts as a set to fit models to.
func newSet(texts []trainingText) *intrusion.Set {
	examples := make([]intrusion.Example, len(texts))
	for i, text := range texts {
		examples[i] = text.Example
	}
	return intrusion.NewSet(examples)
}

// TestWeightsAreFitted compares the shipped weights with a new fit to the labelled texts.
func TestWeightsAreFitted(t *testing.T) {
	RegisterTestingT(t)
	texts := trainingTexts(t)
	got := newSet(texts).Fit(t.Context(), penalty, func(int) bool { return true }).Bytes()
	if *refit {
		Expect(os.WriteFile(weightsFile, got, 0o644)).To(Succeed()) //nolint:gosec // it is committed
	}
	want, err := os.ReadFile(weightsFile)
	Expect(err).NotTo(HaveOccurred())
	fitted, err := intrusion.Read(got)
	Expect(err).NotTo(HaveOccurred())
	shipped, err := intrusion.Read(want)
	Expect(err).NotTo(HaveOccurred())
	for _, text := range texts {
		Expect(fitted.Estimate(text.Text).LogOdds).To(BeNumerically("~", shipped.Estimate(text.Text).LogOdds, 0.1),
			"the texts or the features have changed: go test ./agents/interview/validate -run TestWeightsAreFitted -refit; "+text.Text)
	}
}

// folds is the number of parts of a cross-validation.
const folds = 5

// judged is a text with the judgement of the lexicon alone, and of the lexicon with a model that has not seen it.
type judged struct {
	trainingText
	lexicon, found, refused bool
	odds                    float64
}

func (j judged) String() string {
	return fmt.Sprintf("%5.2f %-5v %-5v %s", j.odds, j.lexicon, j.found, j.Text)
}

// crossValidate judges each text of a fold by the model that was fitted to the others.
func crossValidate(t *testing.T, set *intrusion.Set, texts []trainingText, fold func(i int) int) []judged {
	t.Helper()
	all := make([]judged, len(texts))
	var names []int
	for i := range texts {
		if !slices.Contains(names, fold(i)) {
			names = append(names, fold(i))
		}
	}
	for _, name := range names {
		m := set.Fit(t.Context(), penalty, func(i int) bool { return fold(i) != name })
		for i, text := range texts {
			if fold(i) == name {
				all[i] = judge(text, m)
			}
		}
	}
	return all
}

func judge(text trainingText, m *intrusion.Model) judged {
	j := judged{trainingText: text, odds: m.Estimate(text.Text).LogOdds}
	full, want := inBatch(session.Block2B, fillers)(text.Text, text.lang)
	c := &checker{want: want, works: session.NewTitles(nil), model: m}
	c.Text = full
	plain, hinted := c.lexiconHits()
	j.lexicon = len(plain)+len(hinted) > 0
	c.forbidden()
	j.found = len(c.Findings) > 0
	j.refused = !c.Valid()
	return j
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestCrossValidation measures the lexicon and the classifier together on texts that the classifier has not seen:
// left out at random, and by writer.
func TestCrossValidation(t *testing.T) {
	RegisterTestingT(t)
	texts := trainingTexts(t)
	set := newSet(texts)
	writers := []string{"dev", "heldout", "train/a", "train/b", "train/c", "train/d", "train/own", "sentences", "replies"}
	var b bytes.Buffer
	for _, by := range []struct {
		name string
		fold func(i int) int
	}{
		{"one text in five left out", func(i int) int { return i % folds }},
		{"one writer left out", func(i int) int { return slices.Index(writers, texts[i].writer) }},
	} {
		fmt.Fprintf(&b, "%s\n", by.name)
		all := crossValidate(t, set, texts, by.fold)
		for _, writer := range writers {
			for _, form := range []string{"plain", "roundabout", "natural", "other rule", "reply"} {
				var n, lexicon, found, refused int
				for _, j := range all {
					if j.writer != writer || j.form != form {
						continue
					}
					n++
					lexicon += one(j.lexicon)
					found += one(j.found)
					refused += one(j.refused)
				}
				if n > 0 {
					p := stat.Proportion(found, n, stat.Level)
					fmt.Fprintf(&b, "  %-9s %-10s %3d of %3d found = %.3f (%.3f to %.3f), %3d refused; %3d found by the lexicon alone\n",
						writer, form, found, n, p.Value, p.Interval.Lo, p.Interval.Hi, refused, lexicon)
				}
			}
		}
		if *labelledErrors {
			for _, j := range all {
				t.Log(j.form, j.writer, j)
			}
		}
	}
	golden.Expect("cross-validation.golden", b.Bytes())
}
