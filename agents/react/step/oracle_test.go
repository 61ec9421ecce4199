package step_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/react/step"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// oracle is a document as a parser of all of YAML reads it.
type oracle struct {
	Step        int    `yaml:"step,omitempty"`
	Thought     string `yaml:"thought,omitempty"`
	Action      string `yaml:"action,omitempty"`
	Input       any    `yaml:"action_input,omitempty"`
	Observation string `yaml:"observation,omitempty"`
	Reflection  string `yaml:"reflection,omitempty"`
	Decision    string `yaml:"decision,omitempty"`
	Reason      string `yaml:"reason,omitempty"`
	Trigger     string `yaml:"trigger,omitempty"`
	AgentID     string `yaml:"agent_id,omitempty"`
	Task        string `yaml:"task,omitempty"`
	Missing     any    `yaml:"missing,omitempty"`
}

// pieces are what the lines of texts are made of: what means something in YAML, in
// Markdown, and in other languages.
var pieces = []string{
	"a", "the file", "é", "日本", "x: y", "a #b", "# c", "- d", "\"q\"", "it's", "\\", "\\n", "{", "]", "|", ">", "---", "...", "```", "~~~", "&", "*", "@",
	"thought: no", "a:", ":", "?", "%", "1", "null", "L.12", "  ", "\t", "http://a.b/c", ",", "!",
}

// text draws a text of a few lines.
func text(t *rapid.T, label string) string {
	lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, "simple") {
			return rapid.SampledFrom([]string{"", "", " ", "  ", "\t"}).Draw(t, "indent") + rapid.SampledFrom([]string{"", "one", "two", "three "}).Draw(t, "word")
		}
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 3).Draw(t, "pieces"), rapid.SampledFrom([]string{"", " "}).Draw(t, "space"))
	}), 1, 5).Draw(t, label)
	return strings.Join(lines, "\n")
}

// block writes a text as a block text; its first line is not blank or indented, unless the header says so.
func block(t *rapid.T, body string) string {
	indent := rapid.IntRange(1, 5).Draw(t, "indent")
	var b strings.Builder
	b.WriteString(rapid.SampledFrom([]string{"|", ">"}).Draw(t, "style"))
	number := ""
	if first := strings.TrimLeft(body, "\n"); rapid.Bool().Draw(t, "number") || first == "" || first[0] == ' ' || first[0] == '\t' {
		number = fmt.Sprint(indent)
	}
	chomp := rapid.SampledFrom([]string{"", "-", "+"}).Draw(t, "chomping")
	if rapid.Bool().Draw(t, "order") {
		b.WriteString(number + chomp)
	} else {
		b.WriteString(chomp + number)
	}
	b.WriteString(rapid.SampledFrom([]string{"", " ", " # so"}).Draw(t, "comment") + "\n")
	for l := range strings.SplitSeq(body, "\n") {
		if strings.Trim(l, " \t") != "" {
			b.WriteString(strings.Repeat(" ", indent) + l)
		} else {
			b.WriteString(strings.Repeat(" ", rapid.IntRange(0, indent).Draw(t, "trailing")))
		}
		b.WriteByte('\n')
	}
	return b.String() + strings.Repeat("\n", rapid.IntRange(0, 2).Draw(t, "blank"))
}

// quoted writes a text in quotes, in one line or several.
func quoted(t *rapid.T, body string) string {
	gap := "\n" + strings.Repeat(" ", rapid.IntRange(1, 3).Draw(t, "indent"))
	if rapid.Bool().Draw(t, "double") {
		r := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", rapid.SampledFrom([]string{`\n`, gap, "\n" + gap, `\` + gap}).Draw(t, "break"), "\t", `\t`, "é", `\u00e9`)
		return `"` + r.Replace(body) + "\"\n"
	}
	r := strings.NewReplacer("'", "''", "\n", rapid.SampledFrom([]string{gap, "\n" + gap}).Draw(t, "break"))
	return "'" + r.Replace(body) + "'" + rapid.SampledFrom([]string{"", " ", " # so"}).Draw(t, "comment") + "\n"
}

// value writes the value of a text key in any way that there is. Plain ones may turn out not to be YAML.
func value(t *rapid.T, label string) string {
	body := text(t, label)
	switch rapid.IntRange(0, 3).Draw(t, "form") {
	case 0:
		return " " + block(t, body)
	case 1:
		return rapid.SampledFrom([]string{" ", "\n  "}).Draw(t, "where") + quoted(t, body)
	case 2:
		return " a " + strings.ReplaceAll(body, "\n", "\n ") + "\n"
	}
	return "\n  a " + strings.ReplaceAll(body, "\n", "\n  ") + "\n"
}

// TestOracle holds that a document that a parser of all of YAML reads is read here in the
// same way, and that a document that it refuses is refused here, too.
func TestOracle(t *testing.T) {
	read, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		doc := generated(t)
		var want oracle
		_, problems := yamlsrc.Decode("oracle", []byte(doc), &want)
		found, err := step.Parse(doc)
		switch {
		case len(problems) > 0 && err == nil:
			refused++
			t.Fatalf("%q\nYAML refuses it: %v", doc, problems)
		case len(problems) > 0:
			refused++
		case err != nil && !incomplete(err):
			t.Fatalf("%q\nYAML reads it as %+v\nand here: %v", doc, want, err)
		case err == nil:
			read++
			compare(t, doc, want, found[0])
		}
	})
	if !testing.Short() && (read < 20 || refused < 1) { // -short draws a fifth
		t.Errorf("read %d, refused %d: the generator does not draw both", read, refused)
	}
}

// generated draws a document.
func generated(t *rapid.T) string {
	if rapid.Bool().Draw(t, "act") {
		return fmt.Sprintf("step: %d\nthought:%saction: search\naction_input:\n  query:%s", rapid.IntRange(0, 9).Draw(t, "n"),
			value(t, "thought"), " |\n    a"+strings.ReplaceAll(text(t, "input"), "\n", "\n    ")+"\n")
	}
	return fmt.Sprintf("observation:%sreflection:%sdecision: continue\nreason:%s", value(t, "observation"), value(t, "reflection"), value(t, "reason"))
}

// incomplete reports whether an error says that a text is empty: a rule of steps, not
// of YAML.
func incomplete(err error) bool {
	e, ok := errors.AsType[*step.Error](err)
	return ok && (e.Rule == "thought-required" || e.Rule == "reflection-required")
}

func compare(t *rapid.T, doc string, want oracle, got step.Document) {
	for _, pair := range [][2]string{
		{want.Thought, got.Thought},
		{want.Observation, got.Observation},
		{want.Reflection, got.Reflection},
		{want.Reason, got.Reason},
		{want.Action, got.Action},
		{want.Decision, string(got.Decision)},
	} {
		if strings.TrimRight(pair[0], "\n") != pair[1] {
			t.Fatalf("%q\nYAML: %q\nhere: %q", doc, pair[0], pair[1])
		}
	}
	if want.Step != got.Step {
		t.Fatalf("step %d, want %d", got.Step, want.Step)
	}
	if want.Input == nil {
		return
	}
	var input struct {
		Query string `yaml:"query"`
	}
	if _, problems := yamlsrc.Decode("input", []byte(got.Input), &input); len(problems) > 0 {
		t.Fatalf("%q\nthe input %q: %v", doc, got.Input, problems)
	}
	if w := want.Input.(map[string]any)["query"]; strings.TrimRight(fmt.Sprint(w), " \t\n") != strings.TrimRight(input.Query, " \t\n") {
		t.Fatalf("%q\nYAML: %q\nhere: %q", doc, w, input.Query)
	}
}

// TestAround holds that prose, fences and line endings around a document change nothing of
// it but its place.
func TestAround(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := generated(t)
		want, err := step.Parse(doc)
		if err != nil {
			return
		}
		for _, around := range []struct {
			before, after string
			lines         int
		}{
			{"I look at it.\n", "That is it.\n", 1},
			{"# One\n\n---\n", "...\n", 3},
			{"Note: so.\n\n~~~~~yaml\n", "~~~~~\n", 3},
			{"```go\nfunc f()\n```\n", "---\n", 3},
		} {
			got, err := step.Parse(around.before + doc + around.after)
			if err != nil || len(got) != 1 {
				t.Fatalf("%q between %q and %q: %v", doc, around.before, around.after, err)
			}
			got[0].Line -= around.lines
			if got[0].InputPos.Line > 0 {
				got[0].InputPos.Line -= around.lines
			}
			if got[0] != want[0] {
				t.Fatalf("%q between %q and %q: %+v, want %+v", doc, around.before, around.after, got[0], want[0])
			}
		}
		got, err := step.Parse("\uFEFF" + strings.ReplaceAll(doc, "\n", "\r\n"))
		if err != nil {
			t.Fatalf("%q with CR LF: %v", doc, err)
		}
		got[0].Input = strings.ReplaceAll(got[0].Input, "\r\n", "\n")
		if got[0] != want[0] {
			t.Fatalf("%q with CR LF: %+v, want %+v", doc, got[0], want[0])
		}
	})
}

// TestTogether holds that documents with --- between them are read as each alone, in one
// fence, in several, or without.
func TestTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var whole strings.Builder
		var want []step.Document
		fenced := rapid.Bool().Draw(t, "fence")
		if fenced {
			whole.WriteString("```yaml\n")
		}
		for range rapid.IntRange(1, 4).Draw(t, "documents") {
			doc := generated(t)
			alone, err := step.Parse(doc)
			if err != nil {
				continue
			}
			before := strings.Count(whole.String(), "\n")
			alone[0].Line += before
			if alone[0].InputPos.Line > 0 {
				alone[0].InputPos.Line += before
			}
			want = append(want, alone[0])
			whole.WriteString(doc + rapid.SampledFrom([]string{"---\n", "...\n---\n", "--- # next\n\n# so\n"}).Draw(t, "between"))
			if fenced && rapid.Bool().Draw(t, "again") {
				whole.WriteString("```\nand\n```yaml\n")
			}
		}
		if len(want) == 0 {
			return
		}
		got, err := step.Parse(whole.String())
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q: %v\n%+v, want\n%+v", whole.String(), err, got, want)
		}
	})
}

// TestOutput checks that an output is returned as written, unless the whole of it is one
// fence.
func TestOutput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := text(t, "output")
		want := strings.Trim(body, "\n")
		for _, blank := range []string{" ", "\t"} { // lines that only seem to say something
			if strings.TrimSpace(body) == "" || strings.HasPrefix(want, blank) || strings.HasSuffix(want, blank) {
				return
			}
		}
		if first, _, _ := strings.Cut(want, "\n"); strings.HasPrefix(first, "---") || strings.HasPrefix(first, "...") {
			return
		}
		if !strings.HasPrefix(want, "```") && !strings.HasPrefix(want, "~~~") {
			output(t, chain+"---\n"+body+"\n", want)
			output(t, "```yaml\n"+chain+"```\n"+body+"\n", want)
		}
		fence := strings.Repeat("~", 3*3+1) // longer than what a line of pieces can be: a line of tildes as long would close it
		output(t, fence+"yaml\n"+chain+"---\n"+body+"\n"+fence+"\nBye.\n", want)
	})
}

// output fails unless an answer has the output.
func output(t *rapid.T, answer, want string) {
	found, err := step.Parse(answer)
	if err != nil || len(found) != 2 || found[1].Kind != step.Output || found[1].Text != want {
		t.Fatalf("%q: %v, %+v, want %q", answer, err, found, want)
	}
	if line := strings.Split(answer, "\n")[found[1].Line-1]; !strings.HasPrefix(want, line) {
		t.Fatalf("%q: the output is said to begin on line %d, %q", answer, found[1].Line, line)
	}
}
