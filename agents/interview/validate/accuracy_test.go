package validate

import (
	"fmt"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/stat"
)

// sentence is a sentence with a person's label: the zone that it enters, or "".
type sentence struct {
	zone zone
	text string
}

func sentences(name string) []sentence {
	GinkgoHelper()
	data, err := os.ReadFile("testdata/" + name + ".txt")
	Expect(err).NotTo(HaveOccurred())
	var all []sentence
	for line := range strings.Lines(string(data)) {
		name, text, ok := strings.Cut(strings.TrimSpace(line), ": ")
		Expect(ok).To(BeTrue(), line)
		if name == "none" {
			name = ""
		} else {
			Expect(zones()).To(ContainElement(zone(name)), line)
		}
		all = append(all, sentence{zone(name), text})
	}
	return all
}

// found returns the zones of a text.
func found(text string) []zone {
	var all []zone
	for _, h := range findZones(text) {
		all = append(all, h.Zone)
	}
	return all
}

// score counts a set and lists what went wrong.
func score(name string) string {
	var b strings.Builder
	var positives, hit, right, flagged int
	var wrong []string
	all := sentences(name)
	for _, s := range all {
		got := found(s.text)
		if len(got) > 0 {
			flagged++
		}
		switch {
		case s.zone == "" && len(got) > 0:
			wrong = append(wrong, fmt.Sprintf("  false alarm, %s: %s", got[0], s.text))
		case s.zone != "":
			positives++
			if len(got) == 0 {
				wrong = append(wrong, fmt.Sprintf("  missed, %s: %s", s.zone, s.text))
				continue
			}
			hit++
			for _, z := range got {
				if z == s.zone {
					right++
					break
				}
			}
		}
	}
	fmt.Fprintf(&b, "%s: %d sentences, %d of which enter a zone\n", name, len(all), positives)
	show := func(what string, k, n int) {
		p := stat.Proportion(k, n, stat.Level)
		fmt.Fprintf(&b, "  %-9s %3d of %3d = %.3f, 95 %% interval %.3f to %.3f\n", what, k, n, p.Value, p.Interval.Lo, p.Interval.Hi)
	}
	show("recall", hit, positives)
	show("precision", hit, flagged)
	show("zone", right, hit)
	for _, w := range wrong {
		fmt.Fprintln(&b, w)
	}
	return b.String()
}

var _ = Describe("The labelled sentences", func() {
	It("are distinguished as well as the golden file records", func() {
		var b strings.Builder
		for _, name := range []string{"fr-tuned", "fr-held", "fr-indirect", "fr-last", "fr-final", "en-tuned", "en-held", "en-indirect", "en-last", "en-final"} {
			fmt.Fprintln(&b, score(name))
		}
		golden.Expect("accuracy.golden", []byte(b.String()))
	})
})
