package validate

import (
	"fmt"
	"os"
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
	return fmt.Sprintf("%d of %d, %.2f [%.2f, %.2f]", k, n, rate.Value, rate.Interval.Lo, rate.Interval.Hi)
}

// sumsOf counts the texts of a folder by their form, and "all" of them.
func sumsOf(t *testing.T, e evaluation, folder string) map[string]*counts {
	t.Helper()
	all, err := readLabelled(filepath.Join("testdata/labelled", folder, e.file))
	Expect(err).NotTo(HaveOccurred())
	sums := map[string]*counts{}
	for _, l := range all {
		found, refused, _ := e.reported(l)
		for _, group := range []string{"all", l.Form} {
			if sums[group] == nil {
				sums[group] = &counts{}
			}
			sums[group].add(l.Label == "bad", found, refused)
		}
	}
	return sums
}

// TestFigures compares the figures of the page with those of the labelled texts and of the last cross-validation. With
// -update it writes them.
func TestFigures(t *testing.T) {
	RegisterTestingT(t)
	var b strings.Builder
	b.WriteString("| rule | recall, in view | false alarms, in view | recall, held out | false alarms, held out |\n|---|--:|--:|--:|--:|\n")
	for _, e := range evaluations[1:] {
		fmt.Fprintf(&b, "| %s", map[string]string{
			"generic-trait": "generic options", "score": "scores", "two-questions": "two questions", "tu-vous": "tu and vous",
			"not-a-question": "no question", "empty-section": "empty sections",
		}[e.file])
		for _, folder := range []string{"dev", "heldout"} {
			c := sumsOf(t, e, folder)["all"]
			fmt.Fprintf(&b, " | %s | %s", shareText(c.found, c.bad), shareText(c.alarms, c.good))
		}
		b.WriteString(" |\n")
	}
	golden.ExpectBlock(interviewPage, "rules by meaning", b.String())

	b.Reset()
	b.WriteString("| texts | `unseen2` | aim | `unseen`, in view |\n|---|--:|--:|--:|\n")
	fresh, older := sumsOf(t, evaluations[0], "unseen2"), sumsOf(t, evaluations[0], "unseen")
	for _, form := range []struct{ name, what, aim string }{{"plain", "plain wording, found", "0.90"}, {"roundabout", "roundabout wording, found", "0.75"}} {
		f, o := fresh[form.name], older[form.name]
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", form.what, shareText(f.found, f.bad), form.aim, shareText(o.found, o.bad))
	}
	f, o := fresh["natural"], older["natural"]
	fmt.Fprintf(&b, "| natural texts, false alarms | %s, %d refused | 0.03 | %s, %d refused |\n",
		shareText(f.alarms, f.good), f.blocked, shareText(o.alarms, o.good), o.blocked)
	golden.ExpectBlock(interviewPage, "forbidden zones", b.String())
}

// TestFiguresOfCrossValidation compares the table of the page with the figures that -refit records.
func TestFiguresOfCrossValidation(t *testing.T) {
	RegisterTestingT(t)
	recorded, err := os.ReadFile(figuresFile)
	Expect(err).NotTo(HaveOccurred())
	var b strings.Builder
	b.WriteString("| forbidden zones, cross-validation by writer | lexicon alone | lexicon and classifier |\n|---|--:|--:|\n")
	names := []string{
		"plain wording, found", "roundabout wording, found", "natural texts, false alarms", "near misses, false alarms",
		"texts with findings of other rules, false alarms", "passages of scripted replies, false alarms",
	}
	lines := strings.Split(strings.TrimSpace(string(recorded)), "\n")[1:]
	Expect(lines).To(HaveLen(len(names)))
	for i, line := range lines {
		var found, n, lexicon int
		_, counted, ok := strings.Cut(line, []string{"plain", "roundabout", "natural", "near", "other rule", "reply"}[i])
		Expect(ok).To(BeTrue(), line)
		_, err := fmt.Sscanf(counted, " %d of %d found", &found, &n)
		Expect(err).NotTo(HaveOccurred(), line)
		_, alone, _ := strings.Cut(line, ";")
		_, err = fmt.Sscanf(alone, " %d by the lexicon alone", &lexicon)
		Expect(err).NotTo(HaveOccurred(), line)
		fmt.Fprintf(&b, "| %s | %s | %s |\n", names[i], shareText(lexicon, n), shareText(found, n))
	}
	golden.ExpectBlock(interviewPage, "cross-validation", b.String())
}
