package validate

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate/intrusion"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/stat"
)

var refit = flag.Bool("refit", false, "fit intrusion/weights.bin to the labelled texts again, and cross-validate them")

const (
	weightsFile = "intrusion/weights.bin"
	figuresFile = "testdata/cross-validation.txt"
)

// penalty is the weight of the examples against the penalty on large weights.
const penalty = 1

// trainingText is a text to fit weights to.
type trainingText struct {
	intrusion.Example
	writer, form string
	lang         session.Language
}

// trainingTexts returns the labelled texts to fit to in a fixed order: those on zones, natural ones of other rules,
// the labelled sentences, and the passages of the scripted replies.
func trainingTexts(t *testing.T) []trainingText {
	t.Helper()
	var all []trainingText
	for _, folder := range trainingFolders(t) {
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
const replyWeight = 1

func scriptedPassages(t *testing.T) []trainingText {
	t.Helper()
	var all []trainingText
	seen := map[string]bool{}
	err := fs.WalkDir(fixtures.Replies, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Base(file) == "README.md" {
			return err
		}
		data, err := fixtures.Replies.ReadFile(file)
		// Templates of shared replies have both forms of address: [[informal|formal]].
		for _, form := range []string{"$1", "$2"} {
			text := templateActions().ReplaceAllString(bothForms().ReplaceAllString(string(data), form), "\n")
			intrusion.Passages(text, func(text string, _ int) {
				text = strings.TrimSpace(text)
				if len(text) <= 12 || isSeparator(text) || scriptSyntax().MatchString(text) || seen[text] {
					return
				}
				seen[text] = true
				all = append(all, trainingText{intrusion.Example{Text: text, Weight: replyWeight}, "replies", "reply", ""})
			})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	bothForms       = lazyregexp.New(`\[\[([^|\]]*)\|([^\]]*)\]\]`)
	templateActions = lazyregexp.New(`\{\{[^}]*\}\}`)
	scriptSyntax    = lazyregexp.New(`^#|^rules:|^- when:|template:`)
)

// newSet returns the texts as a set to fit models to.
func newSet(texts []trainingText) *intrusion.Set {
	examples := make([]intrusion.Example, len(texts))
	for i, text := range texts {
		examples[i] = text.Example
	}
	return intrusion.NewSet(examples)
}

// TestWeightsAreFitted checks that the shipped weights and the figures of the cross-validation are those of the labelled texts
// and of the features as they are. A fit takes a minute or two, so it is only done with -refit.
func TestWeightsAreFitted(t *testing.T) {
	RegisterTestingT(t)
	texts := trainingTexts(t)
	set := newSet(texts)
	if *refit {
		weights := set.Fit(t.Context(), penalty, func(int) bool { return true }).Bytes()
		Expect(os.WriteFile(weightsFile, weights, 0o644)).To(Succeed())                        //nolint:gosec // it is committed
		Expect(os.WriteFile(figuresFile, crossValidation(t, set, texts), 0o644)).To(Succeed()) //nolint:gosec // it is committed
	}
	weights, err := os.ReadFile(weightsFile)
	Expect(err).NotTo(HaveOccurred())
	shipped, err := intrusion.Read(weights)
	Expect(err).NotTo(HaveOccurred())
	figures, err := os.ReadFile(figuresFile)
	Expect(err).NotTo(HaveOccurred())
	const again = "the texts or the features have changed: go test ./agents/interview/validate -run TestWeightsAreFitted -refit"
	Expect(shipped.Fitted).To(Equal(set.Digest()), again)
	Expect(string(figures)).To(HavePrefix(set.Digest()+"\n"), again)
}

// folds is the number of parts of a cross-validation. Each has all texts of some writers.
const folds = 6

// judged is a text with the judgement of the lexicon alone, and of the lexicon with a model that has not seen its writer.
type judged struct {
	trainingText
	lexicon bool
	odds    float64
}

func (j judged) found() bool { return j.lexicon || j.odds >= warnAbove }

func (j judged) String() string {
	return fmt.Sprintf("%5.2f %-5v %-5v %s", j.odds, j.lexicon, j.found(), j.Text)
}

// crossValidate judges each text by the model that was fitted to the texts of other folds.
func crossValidate(t *testing.T, set *intrusion.Set, texts []trainingText) []judged {
	t.Helper()
	var writers []string
	for _, text := range texts {
		if !slices.Contains(writers, text.writer) {
			writers = append(writers, text.writer)
		}
	}
	fold := func(i int) int { return slices.Index(writers, texts[i].writer) % folds }
	all := make([]judged, len(texts))
	for f := range folds {
		m := set.Fit(t.Context(), penalty, func(i int) bool { return fold(i) != f })
		for i, text := range texts {
			if fold(i) == f {
				all[i] = judged{text, len(plainHitsOf(text.Text, text.lang)) > 0, m.Estimate(text.Text).LogOdds}
			}
		}
	}
	return all
}

// plainHitsOf returns the plain words of zones in a question of block 2B.
func plainHitsOf(text string, lang session.Language) []zoneHit {
	_, want := inBatch(session.Block2B, fillers)(text, lang)
	c := &checker{want: want, works: session.NewTitles(nil)}
	c.Text = text
	return c.plainHits()
}

// crossValidation measures the lexicon and the classifier together on texts of writers whom the classifier has not seen.
func crossValidation(t *testing.T, set *intrusion.Set, texts []trainingText) []byte {
	t.Helper()
	all := crossValidate(t, set, texts)
	var b bytes.Buffer
	fmt.Fprintln(&b, set.Digest())
	for _, form := range []string{"plain", "roundabout", "natural", "near", "other rule", "reply"} {
		var n, lexicon, found int
		for _, j := range all {
			if j.form == form {
				n++
				lexicon += one(j.lexicon)
				found += one(j.found())
			}
		}
		p := stat.Proportion(found, n, stat.Level)
		fmt.Fprintf(&b, "%-10s %4d of %4d found = %.3f (%.3f to %.3f); %4d by the lexicon alone\n",
			form, found, n, p.Value, p.Interval.Lo, p.Interval.Hi, lexicon)
	}
	if *labelledErrors {
		for _, j := range all {
			t.Log(j.form, j.writer, j)
		}
	}
	return b.Bytes()
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// trainingFolders lists the folders of labelled texts to fit to.
func trainingFolders(t *testing.T) []string {
	t.Helper()
	writers, err := filepath.Glob("testdata/labelled/train/*")
	if err != nil || len(writers) == 0 {
		t.Fatalf("find training texts: %d folders, error %v", len(writers), err)
	}
	folders := []string{"dev", "heldout"}
	for _, writer := range writers {
		folders = append(folders, "train/"+filepath.Base(writer))
	}
	return folders
}
