package step_test

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/react/step"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// examples are values whose reading is easy to get wrong, and values that are none.
var examples = []string{
	// Folded block texts.
	">\n a\n b\n\n c\n\n\n d\n", ">\n a\n   b\n c\n", ">\n a\n\n   b\n   c\n\n d\n", ">\n   a\n  \n   b\n", ">\n a\n \tb\n c\n", ">2-\n   a\n   b\n  c\n  d\n", ">+\n\n\n a\n\n",
	// Literal ones.
	"|+\n a\n\n\n", "|-\n a\n\n", "|1\n  a\n b\n", "|\n a\n     \n b\n", "| # c\n a # no comment\n", "|\n\n\n a\n", "|-2\n   a\n", "\n  |\n  a\n",
	// In double quotes.
	"\"a \\\n  b\"\n", "\"a\\\n\n  b\"\n", "\"a \n  b\"\n", "\"a\\t\n  b\"\n", "\"a\\ \n  b\"\n", "\"a\n\n\n  b\"\n", "\" a \"\n",
	"\"\\n\\x41\\u00e9\\U0001F600\\0\\e\\_\"\n", "\"\"\n", "\"a \\  b\" # c\n", "\"a \\\" b\"\n",
	// In single quotes.
	"' a '\n", "'a''b'''\n", "'a \n\n  b '\n", "''\n", "'a # b'\n", "'\\d'\n", "\n  'a'\n",
	// Plain.
	"a b\n", "a\n b\n\n c\n", "a # c\n", "a# b\n", "a:b http://c\n", "a - b ? c\n", "-a\n", "?a\n", ":a\n", "a [b] {c}, d\n", "\n  a\n  b\n", "# c\n  # d\n  a\n", "a\t\n\tb\n",
	"~\n", "null\n", "\n",
	// None.
	"a: b\n", "a:\n", "a\n b: c\n", "- a\n", "[a]\n", "{a: b}\n", "*a\n", "%a\n", "@a\n", "`a`\n", ",a\n", "]\n", "|a\n", "|-+\n a\n", "'a\n", "\"a\n", "'a' b\n",
	"\"\\d\"\n", "a # c\n b\n", "\"a\"\n b\n", "|\n  a\n b\n", "? a\n",
}

// TestExamples holds that examples are read and refused as by a parser of all of YAML.
func TestExamples(t *testing.T) {
	for _, e := range examples {
		doc := "decision: blocked\nreason: " + e
		var want oracle
		_, problems := yamlsrc.Decode("oracle", []byte(doc), &want)
		found, err := step.Parse(doc)
		none := len(problems) == 1 && strings.Contains(problems[0].Message, "the value is missing") // which is for us to judge
		switch {
		case none && err == nil && found[0].Reason == "":
		case (len(problems) > 0) != (err != nil):
			t.Errorf("%q: YAML: %v, here: %v", e, problems, err)
		case err == nil && found[0].Reason != strings.TrimRight(want.Reason, "\n"):
			t.Errorf("%q: YAML reads %q, here it is %q", e, want.Reason, found[0].Reason)
		}
	}
}
