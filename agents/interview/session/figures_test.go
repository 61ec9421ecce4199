package session

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/stat"
)

// interviewPage has the figures of the labelled texts.
const interviewPage = "../../../docs/reference/interview.md"

// shareText is a share with its 95 % interval, as the page shows it.
func shareText(k, n int) string {
	rate := stat.Proportion(k, n, stat.Level)
	return fmt.Sprintf("%d of %d, %.1f %% [%.1f, %.1f]", k, n, 100*rate.Value, 100*rate.Interval.Lo, 100*rate.Interval.Hi)
}

// TestFiguresOfTitles compares the figures of the page with those of the labelled titles. With -update it writes them.
func TestFiguresOfTitles(t *testing.T) {
	RegisterTestingT(t)
	var b strings.Builder
	b.WriteString("| texts | same work: recognized | other work: confused | answers: exactly the labelled titles |\n|---|--:|--:|--:|\n")
	for _, set := range []struct{ folder, what string }{
		{"dev", "in view of the rules' author"},
		{"heldout", "now in view"},
		{"fresh", "now in view"},
		{"unseen1", "now in view"},
		{"dev2", "now in view"},
		{"unseen2", "not in view, in the frequency of real answers"},
		{"unseen3", "not in view; half of the other works similar on purpose"},
	} {
		folder := filepath.Join("testdata/titles", set.folder)
		same := readLabelled[titlePair](t, filepath.Join(folder, "titles-same.yaml"))
		different := readLabelled[titlePair](t, filepath.Join(folder, "titles-different.yaml"))
		lists := readLabelled[worksList](t, filepath.Join(folder, "works-lists.yaml"))
		recognized := func(p titlePair) bool { return p.recognized() }
		fmt.Fprintf(&b, "| `%s`, %s | %s | %s | %s |\n", set.folder, set.what,
			shareText(countOf(same, recognized), len(same)), shareText(countOf(different, recognized), len(different)),
			shareText(countOf(lists, func(l worksList) bool { return sameWorks(ParseWorks(l.Text), l.Works) }), len(lists)))
	}
	golden.ExpectBlock(interviewPage, "titles", b.String())
}

// TestFiguresOfAnswers compares the figures of the page with those of the labelled answers. With -update it writes them.
func TestFiguresOfAnswers(t *testing.T) {
	RegisterTestingT(t)
	var b strings.Builder
	b.WriteString("| read as labelled, 95 % interval | unseen | another choice, unseen | in view (`dev`, `dev2`, `dev3`) | another choice, in view |\n|---|--:|--:|--:|--:|\n")
	for i, what := range []string{"tone", "medium", "core work"} {
		f := answerFiles[i]
		fmt.Fprintf(&b, "| %s", what)
		for _, folders := range [][]string{{"unseen"}, {"dev", "dev2", "dev3"}} {
			var all []answer
			for _, folder := range folders {
				all = append(all, readLabelled[answer](t, filepath.Join("testdata/answers", folder, f.file))...)
			}
			right := countOf(all, func(a answer) bool { return f.read(a) == a.Choice })
			other := countOf(all, func(a answer) bool { got := f.read(a); return got != a.Choice && got != "none" && got != "" })
			fmt.Fprintf(&b, " | %s | %d of %d", shareText(right, len(all)), other, len(all))
		}
		b.WriteString(" |\n")
	}
	golden.ExpectBlock(interviewPage, "answers", b.String())
}

func countOf[T any](all []T, holds func(T) bool) (n int) {
	for _, v := range all {
		if holds(v) {
			n++
		}
	}
	return n
}
