package action_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

var _ = Describe("search", func() {
	DescribeTable("passes over no line that an expression matches",
		func(query, line string) {
			Expect(do(open(workspace("a.txt", "first\n"+line+"\n")), "search", fmt.Sprintf("query: %q", query)).Observation).To(HaveSuffix(": 1\na.txt:2: " + line))
		},
		Entry("the long s", "(mast)", "Maſt"),
		Entry("the sign of Kelvin", "(kelvin)", "\u212aelvin"),
		Entry("a part that may be left out", "(eval){0,2}x", "x"),
		Entry("one of several", "(eval|x.?)", "X"),
		Entry("one that is nothing", "(eval|)n?dd", "dd"),
		Entry("letters beyond ASCII", "(É+TÉ)", "été"),
		Entry("a part that is there more than once", "(evalo){2}", "EvalOevalO"),
		Entry("a class", "[ab]x", "Bx"),
	)

	It("finds exactly the lines that package regexp finds, however it goes about it", func() {
		folder := workspace()
		set := open(folder)
		word := rapid.SampledFrom([]string{"eval", "sk", "é", "K", "ſ", "K", "a", "\\.", "[abs]", ".", "\\b", "\\s", "x{2,3}", "(?-i:S)", "^", "$"})
		expression := rapid.Custom(func(t *rapid.T) string {
			parts := rapid.SliceOfN(word, 1, 4).Draw(t, "parts")
			for i := range parts {
				parts[i] += rapid.SampledFrom([]string{"", "", "", "+", "*", "?", "|", "{0,1}", "{2}"}).Draw(t, "after")
			}
			// Brackets make it an expression, whatever the parts.
			return "(" + strings.Join(parts, "") + ")" + rapid.SampledFrom([]string{"", "?", "+", "|b", "eval", "{0,2}", "{1,2}x"}).Draw(t, "after group")
		})
		found := regexp.MustCompile(`(?m)^a\.txt:(\d+):`)
		line := rapid.StringMatching(`[evalEVALskSKKſéx.ab ]{0,12}`)
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			query := expression.Draw(t, "query")
			re, err := regexp.Compile("(?i)" + query)
			if err != nil {
				t.Skip(err)
			}
			lines := rapid.SliceOfN(line, 1, 8).Draw(t, "lines")
			if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			var want, got []string
			for i, l := range lines {
				if re.MatchString(l) {
					want = append(want, strconv.Itoa(i+1))
				}
			}
			for _, m := range found.FindAllStringSubmatch(do(set, "search", fmt.Sprintf("query: %q", query)).Observation, -1) {
				got = append(got, m[1])
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s in %q: lines %v, wanted %v", query, lines, got, want)
			}
		})
	})
})

var _ = Describe("a focus", func() {
	It("shows how many lines there are, not all of them", func() {
		r := do(open(workspace("a.py", strings.Repeat("eval(x)\n", 500))), "analyze", "{target: a.py, focus: security}")
		Expect(r.Observation).To(And(ContainSubstring("not told apart): 500\n"), HaveSuffix("a.py:100: [eval] eval(x)\n… 400 more")))
	})
})
