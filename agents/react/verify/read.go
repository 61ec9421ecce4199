package verify

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/react/step"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/textfold"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// MaxBytes is how long a verification may be.
const MaxBytes = 64 << 10

// Read reads a document `verification:`. Each part is written in one of two forms: in
// the schema form, as a mapping with question, check (a list) and passed (or ok, or
// status), or as the list alone; in the tick form, as a sentence with a mark. A part
// in the schema form that says nothing of passed claims to pass if it names checks.
// The parts may also have their French names. A part that is not there is no error
// here; Judge finds it.
//
// The error is a *step.Error whose position counts from the beginning of the text;
// its rules are "no-verification", "unknown-part", "duplicate-part", "unknown-key",
// "bad-value", "yaml" and "too-large".
func Read(text string) ([]Answer, error) {
	if len(text) > MaxBytes {
		return nil, wrong(step.Pos{Line: 1, Column: 1}, "too-large", "the verification has %d bytes; at most %d are read", len(text), MaxBytes)
	}
	r := reader{lines: strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")}
	if err := r.read(); err != nil {
		return nil, err
	}
	return r.answers, nil
}

func wrong(at step.Pos, rule, format string, args ...any) *step.Error {
	return &step.Error{Pos: at, Rule: rule, Message: fmt.Sprintf(format, args...)}
}

type reader struct {
	lines   []string
	answers []Answer
	rest    bool // there are lines that are not in the tick form
}

func (r *reader) read() *step.Error {
	head := r.content(0)
	if head == len(r.lines) {
		return wrong(step.Pos{Line: 1, Column: 1}, "no-verification", "the verification is empty; write verification: and the parts %s below it, indented", partNames())
	}
	inline, ok := strings.CutPrefix(r.lines[head], "verification:")
	if !ok {
		return wrong(step.Pos{Line: head + 1, Column: 1}, "no-verification", "found %s; a verification begins with verification: and has the parts %s below it, indented", excerpt(r.lines[head]), partNames())
	}
	if inline = strings.TrimSpace(inline); inline == "" || inline[0] == '#' {
		if err := r.ticks(head + 1); err != nil {
			return err
		}
	} else {
		r.rest = true
	}
	if r.rest {
		if err := r.schema(); err != nil {
			return err
		}
	}
	return r.order()
}

// content returns the number of the first line from i on that says something.
func (r *reader) content(i int) int {
	for i < len(r.lines) {
		if t := strings.TrimSpace(r.lines[i]); t != "" && t[0] != '#' {
			break
		}
		i++
	}
	return i
}

// ticks takes the parts in the tick form and blanks their lines, so that YAML is
// left. (A sentence with a mark often is not YAML: "[x] done: all of it".)
func (r *reader) ticks(i int) *step.Error {
	i = r.content(i)
	if i == len(r.lines) {
		return wrong(step.Pos{Line: 1, Column: 1}, "no-verification", "the verification has no parts; write %s below it, indented", partNames())
	}
	base := indent(r.lines[i])
	for i < len(r.lines) {
		end := i + 1
		for end < len(r.lines) && (strings.TrimSpace(r.lines[end]) == "" || indent(r.lines[end]) > base) {
			end++
		}
		name, value, ok := strings.Cut(r.lines[i], ":")
		value = strings.TrimSpace(value)
		if ok && isTick(value) && indent(r.lines[i]) == base {
			at := step.Pos{Line: i + 1, Column: base + 1}
			if err := r.add(strings.TrimSpace(name), at, sentence(value, r.lines[i+1:end])); err != nil {
				return err
			}
			clear(r.lines[i:end])
			i = end
			continue
		}
		quoteItems(r.lines[i:end])
		if t := strings.TrimSpace(r.lines[i]); t != "" && t[0] != '#' {
			r.rest = true
		}
		i = end
	}
	return nil
}

// quoteItems quotes the items of a list that begin with a mark: "- [x] done: all of it"
// is not YAML.
func quoteItems(lines []string) {
	for i, l := range lines {
		rest, ok := strings.CutPrefix(strings.TrimLeft(l, " "), "- ")
		if !ok || rest == "" {
			continue
		}
		first, _ := utf8.DecodeRuneInString(strings.TrimSpace(rest))
		if _, boxed := box(strings.TrimSpace(rest)); boxed || strings.ContainsRune(ticks+crosses, first) {
			lines[i] = l[:len(l)-len(rest)] + "'" + strings.ReplaceAll(strings.TrimSpace(rest), "'", "''") + "'"
		}
	}
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// isTick reports whether the value behind a part's name is a plain sentence, and not
// YAML of another form.
func isTick(value string) bool {
	if value == "" {
		return false
	}
	switch value[0] {
	case '[':
		_, ok := box(value)
		return ok
	case '{', '|', '>', '"', '\'', '#', '&', '*', '!':
		return false
	}
	return true
}

func sentence(first string, more []string) string {
	for _, l := range more {
		if l = strings.TrimSpace(l); l != "" {
			first += " " + l
		}
	}
	return first
}

// schema reads what is left as YAML.
func (r *reader) schema() *step.Error {
	var doc struct {
		Verification any `yaml:"verification"`
	}
	where, found := yamlsrc.Decode("", []byte(strings.Join(r.lines, "\n")), &doc)
	if len(found) > 0 {
		d := found[0]
		rule := "yaml"
		if strings.Contains(d.Message, "given twice") {
			rule = "duplicate-part"
		}
		d.File = ""
		message := d.Message
		if d.Expected != "" {
			message += "; expected " + d.Expected
		}
		return wrong(step.Pos{Line: max(1, d.Line), Column: max(1, d.Column)}, rule, "%s", message)
	}
	parts, ok := doc.Verification.(map[string]any)
	if !ok {
		return wrong(step.Pos{Line: 1, Column: 1}, "no-verification", "verification: holds no parts; write %s below it, indented", partNames())
	}
	names := make([]string, 0, len(parts))
	for name := range parts {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		path := "verification." + name
		d := where.At(path, "", "")
		if err := r.add(name, step.Pos{Line: max(1, d.Line), Column: max(1, d.Column)}, parts[name]); err != nil {
			return err
		}
	}
	return nil
}

// names are the parts' names as they may be written, without accents and case.
var names = map[string]Part{
	"completeness": Completeness, "completude": Completeness, "exhaustivite": Completeness,
	"consistency": Consistency, "coherence": Consistency,
	"correctness": Correctness, "exactitude": Correctness, "correction": Correctness,
	"constraints": Constraints, "contraintes": Constraints,
}

func partNames() string {
	var all []string
	for _, p := range Parts() {
		all = append(all, string(p))
	}
	return strings.Join(all, ", ")
}

// add adds the answer to a part whose value stands at a place.
func (r *reader) add(name string, at step.Pos, value any) *step.Error {
	part, ok := names[textfold.Join(name)]
	if !ok {
		known := strings.Split(partNames(), ", ")
		hint := "the parts are " + partNames()
		if near := suggest.Nearest(name, known); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return wrong(at, "unknown-part", "unknown part %s; %s", excerpt(name), hint)
	}
	for _, a := range r.answers {
		if a.Part == part {
			return wrong(at, "duplicate-part", "the part %s is given twice; first on line %d", part, a.Pos.Line)
		}
	}
	a := Answer{Part: part, Pos: at}
	if err := a.take(value); err != nil {
		return err
	}
	r.answers = append(r.answers, a)
	return nil
}

// order puts the answers into the order of the parts.
func (r *reader) order() *step.Error {
	parts := Parts()
	slices.SortFunc(r.answers, func(a, b Answer) int { return slices.Index(parts, a.Part) - slices.Index(parts, b.Part) })
	return nil
}

// take reads the value of a part.
func (a *Answer) take(value any) *step.Error {
	switch v := value.(type) {
	case string:
		a.Form, a.Text = Tick, strings.TrimSpace(v)
		a.Passed = claimOf(v) == passes
	case bool:
		a.Form, a.Passed = Tick, v
	case []any:
		a.Form = Schema
		a.check(v)
		a.Passed = len(a.Checks) > 0 && !a.denied()
	case map[string]any:
		return a.schema(v)
	default:
		return wrong(a.Pos, "bad-value", "the part %s says nothing; write a mark and a sentence, or question, check and passed", a.Part)
	}
	return nil
}

// The keys of the schema form.
var schemaKeys = []string{"question", "check", "passed", "ok", "status", "answer"}

// schema reads the schema form.
func (a *Answer) schema(fields map[string]any) *step.Error {
	a.Form = Schema
	claimed, said := true, false
	for _, key := range sortedKeys(fields) {
		switch value := fields[key]; key {
		case "question":
		case "answer":
			a.Text = text(value)
		case "check":
			a.check(value)
		case "passed", "ok", "status":
			c, ok := value.(bool)
			if !ok {
				c = claimOf(text(value)) == passes
			}
			claimed, said = claimed && c, true
		default:
			hint := "the keys are " + strings.Join(schemaKeys, ", ")
			if near := suggest.Nearest(key, schemaKeys); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return wrong(a.Pos, "unknown-key", "unknown key %s in the part %s; %s", excerpt(key), a.Part, hint)
		}
	}
	a.Passed = claimed && !a.denied() && (said || len(a.Checks) > 0)
	return nil
}

func sortedKeys(m map[string]any) []string {
	all := make([]string, 0, len(m))
	for k := range m {
		all = append(all, k)
	}
	sort.Strings(all)
	return all
}

// check takes the single checks: texts, or mappings of a name to what is said of it.
func (a *Answer) check(value any) {
	items, ok := value.([]any)
	if !ok {
		items = []any{value}
	}
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			for _, k := range sortedKeys(m) {
				a.Checks = append(a.Checks, k+": "+text(m[k]))
			}
			continue
		}
		if s := text(item); len(textfold.Fold(s)) > 0 || claimOf(s) == fails {
			a.Checks = append(a.Checks, s)
		}
	}
}

// denied reports whether a single check says of itself that it fails.
func (a *Answer) denied() bool {
	for _, c := range a.Checks {
		if claimOf(c) == fails {
			return true
		}
		if _, said, ok := strings.Cut(c, ": "); ok && claimOf(said) == fails {
			return true
		}
	}
	return false
}

func text(value any) string {
	if value == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprint(value))
}

func excerpt(text string) string { return fmt.Sprintf("%q", sanitize.Line(text, 40)) }
