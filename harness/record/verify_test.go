package record_test

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/record"
)

func verify(lines []string) []string {
	report, err := record.Verify(strings.NewReader(strings.Join(lines, "")))
	if err != nil {
		return []string{err.Error()}
	}
	var problems []string
	for _, p := range report.Problems {
		problems = append(problems, p.String())
	}
	return problems
}

func split() []string { return strings.SplitAfter(recording(), "\n")[:30] }

var _ = Describe("Verify", Label("H-05"), func() {
	It("finds nothing in an intact recording", func() {
		report, err := record.Verify(strings.NewReader(recording()))
		Expect(err).NotTo(HaveOccurred())
		Expect(report.Problems).To(BeEmpty())
		Expect(report.Lines).To(Equal(30))
		Expect(split()[29]).To(ContainSubstring(report.Hash))
	})

	DescribeTable("describes the alteration",
		func(damage func(l []string) []string, problems ...string) {
			Expect(verify(damage(split()))).To(Equal(problems))
		},
		Entry("a changed line", func(l []string) []string {
			l[5] = strings.Replace(l[5], "gpt-4.1-mini", "gpt-4.1-nano", 1)
			return l
		}, "line 6: line 6 was changed, or line 5 was changed together with its hash"),
		Entry("a changed first line", func(l []string) []string {
			l[0] = strings.Replace(l[0], `"r1"`, `"r2"`, 1)
			return l
		}, "line 1: line 1 was changed"),
		Entry("a changed hash", func(l []string) []string {
			l[6] = flip(l[6], 12)
			return l
		}, "line 7: line 7 was changed, or line 6 was changed together with its hash"),
		Entry("a changed number", func(l []string) []string {
			l[6] = strings.Replace(l[6], `"seq":7`, `"seq":70`, 1)
			return l
		}, "line 7: line 7 was changed: its number is 70 in place of 7"),
		Entry("a removed line", func(l []string) []string { return slices.Delete(l, 6, 7) },
			"line 7: line 7 was removed"),
		Entry("removed lines", func(l []string) []string { return slices.Delete(l, 11, 20) },
			"line 12: lines 12 to 20 were removed"),
		Entry("a removed first line", func(l []string) []string { return l[1:] },
			"line 1: line 1 was removed"),
		Entry("removed last lines", func(l []string) []string { return l[:20] },
			"line 20: the last line is not a close line: the run was torn off, or lines were removed from the end"),
		Entry("a repeated line", func(l []string) []string { return slices.Insert(l, 10, l[6]) },
			"line 11: line 11 was inserted: its number 7 is already taken"),
		Entry("two lines swapped", func(l []string) []string { l[6], l[7] = l[7], l[6]; return l },
			"line 8: lines were reordered: line 7 was moved behind line 8"),
		Entry("two trials swapped", func(l []string) []string {
			return slices.Concat(l[:2], l[11:20], l[2:11], l[20:])
		}, "line 12: lines were reordered: line 3 was moved behind line 20"),
		Entry("a line of garbage", func(l []string) []string { l[6] = "garbage\n"; return l },
			"line 7: line 7 was changed: it is not a line of a recording",
			"line 8: line 8 was changed, or line 7 was changed together with its hash"),
		Entry("a torn end", func(l []string) []string { l[29] = l[29][:50]; return l },
			"line 30: the last line is torn: it does not end with a newline",
			"line 30: the last line is not a close line: the run was torn off, or lines were removed from the end"),
		Entry("lines after the close", func(l []string) []string { return append(l, l[28]) },
			"line 31: there is a line after the close line",
			"line 31: line 31 was inserted: its number 29 is already taken",
			"line 31: the last line is not a close line: the run was torn off, or lines were removed from the end"),
	)

	It("notices a line that was changed together with its hash", func() {
		// Lines 1 to 7 of a recording of other trials are a valid chain.
		var forged strings.Builder
		t := sample(1)
		t.Calls[0].Model = "gpt-4.1-nano"
		Expect(write(&forged, t)).To(Succeed())
		lines := split()
		copy(lines[2:6], strings.SplitAfter(forged.String(), "\n")[2:6])
		Expect(verify(lines)).To(HaveExactElements(
			MatchRegexp("line [3-7] was changed"), // where the forgery begins: the run differs
			"line 7: line 7 was changed, or line 6 was changed together with its hash",
		))
	})

	It("names any line in which any byte was changed", func() {
		lines := split()
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			n := rapid.IntRange(1, len(lines)).Draw(rt, "line")
			at := rapid.IntRange(0, len(lines[n-1])-2).Draw(rt, "at")
			b := rapid.Byte().Filter(func(b byte) bool { return b != lines[n-1][at] && b != '\n' }).Draw(rt, "byte")
			damaged := slices.Clone(lines)
			damaged[n-1] = lines[n-1][:at] + string([]byte{b}) + lines[n-1][at+1:]
			if !slices.ContainsFunc(verify(damaged), func(p string) bool {
				return strings.HasPrefix(p, fmt.Sprintf("line %d: line %d was changed", n, n))
			}) {
				rt.Fatalf("line %d is not named in %q", n, verify(damaged))
			}
		})
	})

	It("names any line that was removed, moved or repeated", func() {
		lines := split()
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			n := rapid.IntRange(1, len(lines)-2).Draw(rt, "line")
			removed := slices.Delete(slices.Clone(lines), n-1, n)
			if want, got := []string{fmt.Sprintf("line %d: line %d was removed", n, n)}, verify(removed); !slices.Equal(got, want) {
				rt.Fatalf("removed %d: %q", n, got)
			}
			to := rapid.IntRange(n+1, len(lines)-1).Draw(rt, "to")
			moved := slices.Insert(slices.Clone(removed), to-1, lines[n-1])
			if want, got := []string{fmt.Sprintf("line %d: lines were reordered: line %d was moved behind line %d", to, n, to)}, verify(moved); !slices.Equal(got, want) {
				rt.Fatalf("moved %d to %d: %q", n, to, got)
			}
			repeated := slices.Insert(slices.Clone(lines), to, lines[n-1])
			if want, got := []string{fmt.Sprintf("line %d: line %d was inserted: its number %d is already taken", to+1, to+1, n)}, verify(repeated); !slices.Equal(got, want) {
				rt.Fatalf("repeated %d after %d: %q", n, to, got)
			}
		})
	})
})

// flip replaces a hex digit by another.
func flip(line string, at int) string {
	digit := "0"
	if line[at] == '0' {
		digit = "1"
	}
	return line[:at] + digit + line[at+1:]
}
