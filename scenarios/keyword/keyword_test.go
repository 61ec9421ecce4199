package keyword_test

import (
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/scenarios/keyword"
)

func TestKeyword(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "scenarios/keyword")
}

var _ = Describe("an expression", Label("H-01"), func() {
	DescribeTable("selects by name and tags", func(expr string, want bool) {
		e, err := keyword.Parse(expr)
		Expect(err).NotTo(HaveOccurred())
		Expect(e.Match("shop/refund-policy", []string{"slow", "Money"})).To(Equal(want))
	},
		Entry("a part of the name", "refund", true),
		Entry("across the slash", "p/ref", true),
		Entry("another case", "REFUND", true),
		Entry("a tag", "money", true),
		Entry("neither", "order", false),
		Entry("not across name and tag", "policyslow", false),
		Entry("and", "refund and slow", true),
		Entry("and, one of them", "refund and fast", false),
		Entry("or", "order or slow", true),
		Entry("not", "not slow", false),
		Entry("not twice", "not not slow", true),
		Entry("not before and", "not fast and slow", true),
		Entry("and before or", "slow or order and fast", true),
		Entry("and before or, on the left", "order and fast or slow", true),
		Entry("parentheses", "(slow or order) and fast", false),
		Entry("parentheses without spaces", "(slow)and(not(fast))", true),
		Entry("operators in upper case", "slow AND NOT fast", true),
		Entry("an operator as a word", `"and" or 'or'`, false),
		Entry("a part of a word that looks like an operator", "order or and-or-not or refund", true),
		Entry("quotes of the other kind", `"it's" or refund`, true),
	)

	DescribeTable("is refused with its place", func(expr string, column int, message string) {
		_, err := keyword.Parse(expr)
		var wrong *keyword.SyntaxError
		Expect(errors.As(err, &wrong)).To(BeTrue())
		Expect(wrong.Column).To(Equal(column))
		Expect(wrong.Error()).To(ContainSubstring(message))
	},
		Entry("empty", "", 1, `expected a word, "not" or "(", got the end`),
		Entry("blank", "  ", 3, "got the end"),
		Entry("two words", "é order refund", 3, `expected "and", "or" or ")", got "order"`),
		Entry("an operator at the end", "order and", 10, "got the end"),
		Entry("an operator at the start", "and order", 1, `got "and"`),
		Entry("an open parenthesis", "(order", 7, `expected "and", "or" or ")", got the end`),
		Entry("a closed one", "order)", 6, `got ")"`),
		Entry("an empty pair", "()", 2, `got ")"`),
		Entry("an open quote", `order or "x`, 10, `the quote " is not closed`),
		Entry("an empty word", `order or ""`, 10, "is empty"),
		Entry("too deep", strings.Repeat("(", 200)+"x", 102, "nested more than 100 levels"),
		Entry("too many negations", strings.Repeat("not ", 200)+"x", 405, "nested more than 100 levels"),
		Entry("too long", strings.Repeat("x", 10_001), 1, "at most 10000"),
	)

	It("names the words that it requires", func() {
		e, err := keyword.Parse("Order and not (slow or not fast) and (ORDER or late)")
		Expect(err).NotTo(HaveOccurred())
		Expect(e.Words()).To(Equal([]string{"order", "fast", "late"}))
	})

	It("matches everything if it is the zero value", func() {
		Expect(keyword.Expr{}.Match("x", nil)).To(BeTrue())
	})

	It("obeys the laws of logic", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			a, b := expression(3).Draw(t, "a"), expression(3).Draw(t, "b")
			name := rapid.StringMatching("[a-c]{0,3}/[a-c]{1,3}").Draw(t, "name")
			tags := rapid.SliceOfN(rapid.StringMatching("[a-c]{1,2}"), 0, 3).Draw(t, "tags")
			match := func(text string) bool {
				e, err := keyword.Parse(text)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				return e.Match(name, tags)
			}
			for left, right := range map[string]string{
				"not ((" + a + ") and (" + b + "))":                  "not (" + a + ") or not (" + b + ")",
				"not not (" + a + ")":                                a,
				"(" + a + ") or (" + b + ")":                         "(" + b + ") or (" + a + ")",
				"(" + a + ") and ((" + a + ") or (" + b + "))":       a,
				"(" + a + ") and not (" + a + ")":                    "b and not b",
				"not (" + a + ") and (" + b + ") or (" + a + ")":     "(" + a + ") or (" + b + ")",
				strings.ToUpper("(" + a + ") or not (" + b + ")"):    "(" + a + ") or not (" + b + ")",
				"  ( " + strings.ReplaceAll(a, " ", " \t") + "\n ) ": a,
			} {
				if match(left) != match(right) {
					t.Fatalf("%q and %q differ for %q %q", left, right, name, tags)
				}
			}
		})
	})
})

// expression generates valid expressions of a limited depth.
func expression(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		kind := 0
		if depth > 0 {
			kind = rapid.IntRange(0, 4).Draw(t, "kind")
		}
		part := func() string { return expression(depth-1).Draw(t, "operand") }
		switch kind {
		case 1:
			return "not " + part()
		case 2:
			return part() + " and " + part()
		case 3:
			return part() + " or " + part()
		case 4:
			return "(" + part() + ")"
		}
		return rapid.StringMatching("[a-c]{1,2}").Draw(t, "word")
	})
}

// FuzzParse checks that any text is refused with a place in it or gives an expression whose
// negation matches what it does not.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "a", "a and not (b or 'c d')", "((", `"`, "not", "a b", "é or \xff", "NOT not (a)"} {
		f.Add(seed, "a/b", "c")
	}
	f.Fuzz(func(t *testing.T, text, name, tag string) {
		e, err := keyword.Parse(text)
		if err != nil {
			var wrong *keyword.SyntaxError
			if !errors.As(err, &wrong) || wrong.Column < 1 || wrong.Column > len([]rune(text))+1 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		negated, err := keyword.Parse("not (" + text + ")")
		if err != nil {
			return // one level too deep, or too long
		}
		if negated.Match(name, []string{tag}) == e.Match(name, []string{tag}) {
			t.Fatalf("%q and its negation agree on %q %q", text, name, tag)
		}
	})
}
