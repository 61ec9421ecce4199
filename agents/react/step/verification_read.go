package step

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/textfold"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// maxVerification is the largest size of a verification, in bytes.
const maxVerification = 64 << 10

// ReadVerification parses a document `verification:`. A part has one of two forms. The
// schema form is a mapping with question, check (a list) and passed (or ok, or status), or
// the list alone; without passed, it claims to pass if it has checks. The tick form is a
// sentence with a mark. Names of parts may be French. A missing part is not an error here:
// JudgeVerification reports it.
//
// The error is an *Error whose position is relative to the text; its rules are
// "no-verification", "unknown-part", "duplicate-part", "unknown-key", "bad-value", "yaml"
// and "too-large".
func ReadVerification(text string) ([]Claim, error) {
	if len(text) > maxVerification {
		return nil, errorAt(Pos{Line: 1, Column: 1}, "too-large",
			"the verification has %d bytes; at most %d are read", len(text), maxVerification)
	}
	r := reader{lines: strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")}
	if err := r.read(); err != nil {
		return nil, err
	}
	slices.SortFunc(r.claims, func(a, b Claim) int { return cmp.Compare(slices.Index(parts, a.Part), slices.Index(parts, b.Part)) })
	return r.claims, nil
}

// reader reads a verification. It takes the parts in the tick form out of the lines and
// leaves the rest to YAML.
type reader struct {
	lines  []string
	claims []Claim
	rest   bool // some lines are not in the tick form
}

func (r *reader) read() *Error {
	first := r.skipEmpty(0)
	if first == len(r.lines) {
		return errorAt(Pos{Line: 1, Column: 1}, "no-verification",
			"the verification is empty; write verification: and the parts %s below it, indented", partNames())
	}
	inline, ok := strings.CutPrefix(r.lines[first], "verification:")
	if !ok {
		return errorAt(Pos{Line: first + 1, Column: 1}, "no-verification",
			"found %s; a verification begins with verification: and has the parts %s below it, indented", excerpt(r.lines[first]), partNames())
	}
	if hasContent(inline) {
		r.rest = true
	} else if err := r.readTicks(first + 1); err != nil {
		return err
	}
	if r.rest {
		return r.readYAML()
	}
	return nil
}

// hasContent reports whether a line is neither blank nor a comment.
func hasContent(line string) bool {
	text := strings.TrimSpace(line)
	return text != "" && text[0] != '#'
}

// skipEmpty returns the index of the first line from i on with content.
func (r *reader) skipEmpty(i int) int {
	for i < len(r.lines) && !hasContent(r.lines[i]) {
		i++
	}
	return i
}

// readTicks reads the parts in the tick form and blanks their lines: a sentence with a
// mark often is not YAML ("[x] done: all of it").
func (r *reader) readTicks(i int) *Error {
	i = r.skipEmpty(i)
	if i == len(r.lines) {
		return errorAt(Pos{Line: 1, Column: 1}, "no-verification", "the verification has no parts; write %s below it, indented", partNames())
	}
	margin := indentOf(r.lines[i])
	for i < len(r.lines) {
		end := i + 1
		for end < len(r.lines) && (strings.TrimSpace(r.lines[end]) == "" || indentOf(r.lines[end]) > margin) {
			end++
		}
		name, value, ok := strings.Cut(r.lines[i], ":")
		value = strings.TrimSpace(value)
		if ok && isSentence(value) && indentOf(r.lines[i]) == margin {
			at := Pos{Line: i + 1, Column: margin + 1}
			for _, l := range r.lines[i+1 : end] {
				value = strings.TrimSpace(value + " " + strings.TrimSpace(l))
			}
			if err := r.addClaim(strings.TrimSpace(name), at, value); err != nil {
				return err
			}
			clear(r.lines[i:end])
		} else {
			quoteItems(r.lines[i:end])
			r.rest = r.rest || hasContent(r.lines[i])
		}
		i = end
	}
	return nil
}

// quoteItems quotes the list items that begin with a mark: "- [x] done: all of it" is
// not YAML.
func quoteItems(lines []string) {
	for i, l := range lines {
		rest, ok := strings.CutPrefix(strings.TrimLeft(l, " "), "- ")
		item := strings.TrimSpace(rest)
		if !ok || item == "" {
			continue
		}
		first, _ := utf8.DecodeRuneInString(item)
		if _, boxed := checkBox(item); boxed || strings.ContainsRune(tickSigns+crossSigns, first) {
			lines[i] = l[:len(l)-len(rest)] + "'" + strings.ReplaceAll(item, "'", "''") + "'"
		}
	}
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// isSentence reports whether the value of a part is a plain sentence, and not another
// form of YAML.
func isSentence(value string) bool {
	if value == "" {
		return false
	}
	if value[0] == '[' {
		_, ok := checkBox(value)
		return ok
	}
	return !strings.ContainsRune(`{|>"'#&*!`, rune(value[0]))
}

// readYAML reads the remaining lines as YAML.
func (r *reader) readYAML() *Error {
	var doc struct {
		Verification any `yaml:"verification"`
	}
	source, problems := yamlsrc.Decode("", []byte(strings.Join(r.lines, "\n")), &doc)
	if len(problems) > 0 {
		d := problems[0]
		rule := "yaml"
		if strings.Contains(d.Message, "given twice") {
			rule = "duplicate-part"
		}
		message := d.Message
		if d.Expected != "" {
			message += "; expected " + d.Expected
		}
		return errorAt(Pos{Line: max(1, d.Line), Column: max(1, d.Column)}, rule, "%s", message)
	}
	fields, ok := doc.Verification.(map[string]any)
	if !ok {
		return errorAt(Pos{Line: 1, Column: 1}, "no-verification", "verification: has no parts; write %s below it, indented", partNames())
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		at := source.At("verification."+name, "", "")
		if err := r.addClaim(name, Pos{Line: max(1, at.Line), Column: max(1, at.Column)}, fields[name]); err != nil {
			return err
		}
	}
	return nil
}

// partsByName are the parts by their names, folded.
var partsByName = map[string]Part{
	"completeness": Completeness, "completude": Completeness, "exhaustivite": Completeness,
	"consistency": Consistency, "coherence": Consistency,
	"correctness": Correctness, "exactitude": Correctness, "correction": Correctness,
	"constraints": Constraints, "contraintes": Constraints,
}

var partList = func() (names []string) {
	for _, p := range parts {
		names = append(names, string(p))
	}
	return names
}()

func partNames() string { return strings.Join(partList, ", ") }

// addClaim adds the claim about a part.
func (r *reader) addClaim(name string, at Pos, value any) *Error {
	part, ok := partsByName[textfold.Join(name)]
	if !ok {
		return errorAt(at, "unknown-part", "unknown part %s; %s", excerpt(name), hintAmong(name, "parts", partList))
	}
	if i := slices.IndexFunc(r.claims, func(c Claim) bool { return c.Part == part }); i >= 0 {
		return errorAt(at, "duplicate-part", "the part %s is given twice; first on line %d", part, r.claims[i].Pos.Line)
	}
	c := Claim{Part: part, Pos: at}
	if err := c.set(value); err != nil {
		return err
	}
	r.claims = append(r.claims, c)
	return nil
}

// hintAmong returns the known name that was probably meant, or all of them.
func hintAmong(name, what string, known []string) string {
	if near := suggest.Nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return fmt.Sprintf("the %s are %s", what, strings.Join(known, ", "))
}

func (c *Claim) set(value any) *Error {
	switch v := value.(type) {
	case string:
		c.Form, c.Text = tickForm, strings.TrimSpace(v)
		c.Passed = markOf(v) == tick
	case bool:
		c.Form, c.Passed = tickForm, v
	case []any:
		c.Form = schemaForm
		c.addChecks(v)
		c.Passed = len(c.Checks) > 0 && !c.hasCross()
	case map[string]any:
		return c.setSchema(v)
	default:
		return errorAt(c.Pos, "bad-value", "the part %s says nothing; write a mark and a sentence, or question, check and passed", c.Part)
	}
	return nil
}

var schemaKeys = []string{"question", "check", "passed", "ok", "status", "answer"}

// setSchema sets the claim from the mapping of the schema form.
func (c *Claim) setSchema(fields map[string]any) *Error {
	c.Form = schemaForm
	passed, explicit := true, false
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		switch value := fields[key]; key {
		case "question":
		case "answer":
			c.Text = textOf(value)
		case "check":
			c.addChecks(value)
		case "passed", "ok", "status":
			ok, isBool := value.(bool)
			passed, explicit = passed && (ok || !isBool && markOf(textOf(value)) == tick), true
		default:
			return errorAt(c.Pos, "unknown-key", "unknown key %s in the part %s; %s", excerpt(key), c.Part, hintAmong(key, "keys", schemaKeys))
		}
	}
	c.Passed = passed && !c.hasCross() && (explicit || len(c.Checks) > 0)
	return nil
}

// addChecks adds the checks of a list: texts, or mappings from a name to a statement.
func (c *Claim) addChecks(value any) {
	items, ok := value.([]any)
	if !ok {
		items = []any{value}
	}
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			for _, k := range slices.Sorted(maps.Keys(m)) {
				c.Checks = append(c.Checks, k+": "+textOf(m[k]))
			}
			continue
		}
		if s := textOf(item); len(textfold.Fold(s)) > 0 || markOf(s) == cross {
			c.Checks = append(c.Checks, s)
		}
	}
}

// hasCross reports whether a check, or the statement behind its name, denies.
func (c *Claim) hasCross() bool {
	return slices.ContainsFunc(c.Checks, func(check string) bool {
		_, statement, _ := strings.Cut(check, ": ")
		return markOf(check) == cross || markOf(statement) == cross
	})
}

func textOf(value any) string {
	if value == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprint(value))
}
