package step_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/react/step"
)

// maxWork limits how often each byte of an answer may be read: once on the way, once more
// where a document turns out to have begun earlier, once more where comments turn out to
// stand behind a value, and once by the YAML library.
const maxWork = 4

// hostile are answers that make a careless parser slow, a megabyte or so each.
var hostile = map[string]string{
	"separators":                     strings.Repeat("---\n", 1<<18),
	"open fences":                    strings.Repeat("```a\n", 1<<18),
	"fences":                         strings.Repeat("```yaml\n```\n", 1<<17),
	"fences of all lengths":          fences(1400),
	"spaces":                         strings.Repeat(" ", 1<<20),
	"blank lines":                    strings.Repeat("\n", 1<<20),
	"tabs":                           strings.Repeat("\t\n", 1<<19),
	"stairs":                         "thought: |\n a\n" + steps(1400) + "action: y\n",
	"stairs of prose":                steps(1400),
	"unknown keys":                   strings.Repeat("a: b\n", 1<<18),
	"unknown keys, then a step":      strings.Repeat("a: b\n", 1<<18) + act,
	"unknown keys apart":             strings.Repeat("a: b\n\n", 1<<17) + act,
	"comments behind a value":        "thought: x\naction: y\naction_input:\n  a: b\n" + strings.Repeat("# c\n", 1<<18),
	"comments between values":        "thought: x\naction: y\naction_input:\n" + strings.Repeat("# c\n  a: b\n", 1<<17),
	"comments in a text":             "thought:\n" + strings.Repeat("  # c\n# d\n", 1<<17) + "  a\naction: y\n",
	"comments behind a text":         "thought: a\naction: y\n" + strings.Repeat("# c\n\n", 1<<17),
	"characters that YAML refuses":   "thought: |\n" + strings.Repeat(" \x00\u2028\n", 1<<18) + "action: y\n",
	"a long key":                     strings.Repeat("a", 1<<20) + ": b\n",
	"a long line":                    "thought: " + strings.Repeat("a ", 1<<19) + "\naction: y\n",
	"quotes":                         "thought: '" + strings.Repeat("'' ", 1<<18) + "'\naction: y\n",
	"a quote that is not closed":     "thought: \"" + strings.Repeat("a\n ", 1<<18),
	"escapes":                        "thought: \"" + strings.Repeat(`\u00e9`, 1<<17) + "\"\naction: y\n",
	"line breaks that are escaped":   "thought: \"" + strings.Repeat(" \\\n  ", 1<<17) + "\"\naction: y\n",
	"brackets":                       "thought: x\naction: y\naction_input: {\n" + strings.Repeat("a: [],\n", 1<<17) + "}\n",
	"a bracket that is not closed":   "thought: x\naction: y\naction_input: {\n" + strings.Repeat("a: b,\n", 1<<17),
	"reasons apart":                  strings.Repeat("reason: a\n\n", 1<<16) + reflect,
	"a folded text":                  "thought: >\n" + strings.Repeat(" a\n\n  b\n", 1<<17) + "action: y\n",
	"an output of fences":            chain + strings.Repeat("```\n", 1<<18),
	"labels":                         strings.Repeat("Thought: a\n", 1<<17),
	"labels of actions":              strings.Repeat("Thought: a\nAction: b\n", 1<<16),
	"labels in fences":               strings.Repeat("Thought: a\nAction: b\nAction Input:\n```\n", 1<<15),
	"an observation without an end":  "Thought: a\nAction: b\nObservation: " + strings.Repeat("c\n", 1<<19),
	"braces":                         strings.Repeat("{\n", 1<<19),
	"JSON without an end":            "{\"thought\": \"" + strings.Repeat("a", 1<<20),
	"JSON with many lines":           "{\"thought\": \"x\", \"action\": \"y\", \"action_input\": [" + strings.Repeat("1,\n", 1<<18) + "1]}",
	"JSON with many members":         "{\"thought\": \"x\"" + strings.Repeat(",\n\"a\": 1", 1<<17) + "}",
	"a byte order mark on each line": strings.Repeat("\uFEFFthought: x\n", 1<<16),
}

// fences opens fences, each shorter than the one before.
func fences(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("`", n+2-i) + "a\n")
	}
	return b.String()
}

// steps indents each line more than the one before.
func steps(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i+1) + "a\n")
	}
	return b.String()
}

// FuzzParse holds that an answer is read or refused with a place that exists in
// it, that documents stand in their order and have what their kind needs, and
// that the work is linear.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		act, reflect, end + "---\n" + chain + "---\nAll is well.\n", "```yaml\n" + act + "```\n", "a\n~~~\n" + reflect + "~~~\nb",
		"thought: \"a\\u00e9\\\n  b\"\naction: 'it''s'\naction_input: {a: [1, \"}\"]}\n", "thought: >+2\n   a\n\n\n  b\naction: x\n",
		"\uFEFFstep: 1\r\n" + act, "thought: |\n\ta", "action_input:\n- a\n- b\n", "reason: a\n\n# c\n" + reflect, "{\"thought\": 1}", "...\n--- # c\n",
		"{\"output\": 1,\n\"verification\": {\"a\": []}, \"thought\": \"x\", \"action\": \"y\", \"action_input\": [\"\\ud83d\\ude00\"]}\n",
		"Thought: a: b\nAction: c\nAction Input: {\"d\": 1}\nObservation: e\n**Reflection:** f\n**Decision**: done\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		found, work, err := step.Work(answer)
		if limit := maxWork*len(answer) + 1024; work > limit {
			t.Errorf("looked at %d bytes of %d", work, len(answer))
		}
		lines := strings.Split(strings.TrimPrefix(answer, "\uFEFF"), "\n")
		if err != nil {
			e, ok := errors.AsType[*step.Error](err)
			if !ok || e.Rule == "" || e.Message == "" {
				t.Fatalf("%#v", err)
			}
			inside(t, lines, e.Pos, "error "+e.Rule)
		} else if len(found) == 0 {
			t.Error("neither a document nor an error")
		}
		last := step.Pos{}
		for _, d := range found {
			if object := strings.HasPrefix(strings.TrimLeft(lines[min(d.Line, len(lines))-1], " "), "{"); !object && d.Kind != step.Output && d.Line <= last.Line {
				t.Errorf("%s at %v behind %v", d.Kind, d.Pos, last)
			}
			last = step.Pos{Line: max(last.Line, d.Line)}
			inside(t, lines, d.Pos, string(d.Kind))
			complete(t, lines, d)
		}
		if out, err := step.Final(answer); err == nil && len(out) == 0 {
			t.Error("neither an output nor an error")
		}
	})
}

// inside fails unless a place is in the answer.
func inside(t *testing.T, lines []string, p step.Pos, what string) {
	t.Helper()
	if p.Line < 1 || p.Line > len(lines)+1 || p.Column < 1 {
		t.Fatalf("%s at %v of %d lines", what, p, len(lines))
	}
	if p.Line <= len(lines) && p.Column > utf8.RuneCountInString(lines[p.Line-1])+1 {
		t.Errorf("%s at %v, and the line is %q", what, p, lines[p.Line-1])
	}
}

// complete fails unless a document has what its kind needs, and nothing else.
func complete(t *testing.T, lines []string, d step.Document) {
	t.Helper()
	switch d.Kind {
	case step.Act:
		if strings.TrimSpace(d.Thought) == "" || d.Action == "" && d.Trigger == "" || d.Decision != "" || d.Text != "" {
			t.Errorf("an act: %+v", d)
		}
		if d.Input != "" {
			inside(t, lines, d.InputPos, "input")
			if begin := []rune(lines[d.Line-1])[d.Column-1]; begin == '{' || d.Input[0] == '{' {
				return // from JSON, which is written anew
			}
			// Its first line stands where the place says.
			first, _, _ := strings.Cut(d.Input, "\n")
			if at := strings.Index(lines[d.InputPos.Line-1], first); at < 0 {
				t.Errorf("the input %q is not on line %d: %q", first, d.InputPos.Line, lines[d.InputPos.Line-1])
			}
		}
	case step.Reflect:
		if !slices.Contains(step.Decisions(), d.Decision) || d.Action != "" || d.Thought != "" {
			t.Errorf("a reflection: %+v", d)
		}
	case step.Verify, step.Output:
		if strings.TrimSpace(d.Text) == "" || d.Decision != "" || d.Action != "" {
			t.Errorf("%s: %+v", d.Kind, d)
		}
	default:
		t.Errorf("kind %q", d.Kind)
	}
}

func TestHostile(t *testing.T) {
	for name, answer := range hostile {
		_, work, _ := step.Work(answer)
		if limit := maxWork*len(answer) + 1024; work > limit {
			t.Errorf("%s: looked at %d bytes of %d", name, work, len(answer))
		}
	}
}
