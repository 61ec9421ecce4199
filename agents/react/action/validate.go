package action

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

type validateInput struct {
	Assertion string `yaml:"assertion"`
	Data      any    `yaml:"data"`
}

// form is a form of assertions that the engine can decide.
type form struct {
	shown   string
	pattern func() *regexp.Regexp
	decide  func(w *work, data string, groups []string) (verdict, error)
}

// verdict is a decision with its evidence.
type verdict struct {
	holds    bool
	evidence string
}

const operators = `(==|!=|>=|<=|>|<)`

var forms = []form{
	{"exists", lazyregexp.New(`(?i)^(not\s+)?exists$`), (*work).exists},
	{"contains: TEXT", lazyregexp.New(`(?is)^(not\s+)?contains:\s*(.+)$`), (*work).contains},
	{"matches: EXPRESSION", lazyregexp.New(`(?is)^(not\s+)?matches:\s*(.+)$`), (*work).matches},
	{"valid: json, yaml or csv", lazyregexp.New(`(?i)^valid:?\s+(json|yaml|csv)$`), (*work).valid},
	{"value: KEY.KEY[0] == VALUE", lazyregexp.New(`(?is)^(?:value|json|yaml):\s*(\S+?)\s*` + operators + `\s*(.+)$`), (*work).value},
	{"count: EXPRESSION >= N", lazyregexp.New(`(?is)^count:\s*(.+?)\s*` + operators + `\s*(\d{1,9})$`), (*work).count},
	{"lines >= N", lazyregexp.New(`(?i)^lines\s*` + operators + `\s*(\d{1,9})$`), (*work).lineCount},
}

func assertionForms() []string {
	var all []string
	for _, f := range forms {
		all = append(all, f.shown)
	}
	return append(all, "\"not\" before exists, contains and matches")
}

// validate decides an assertion about a file or text. It fails for an assertion that it
// cannot decide.
func (w *work) validate(in validateInput) (string, error) {
	data, isText := in.Data.(string)
	if !isText {
		encoded, err := indented(in.Data)
		if err != nil {
			return "", fail(RuleBadInput, "data cannot be read: %v", err)
		}
		data = "text: " + string(encoded)
	}
	assertion := strings.TrimSpace(in.Assertion)
	for _, f := range forms {
		groups := f.pattern().FindStringSubmatch(assertion)
		if groups == nil {
			continue
		}
		v, err := f.decide(w, data, groups[1:])
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%t: %s", v.holds, v.evidence), nil
	}
	return "", fail(ruleUndecidable, "the engine cannot decide %q; it decides %s", clip(assertion), strings.Join(assertionForms(), "; "))
}

func (w *work) exists(data string, groups []string) (verdict, error) {
	name, err := inside(strings.TrimSpace(data))
	if err != nil {
		return verdict{}, err
	}
	negated := groups[0] != ""
	info, err := w.root.Stat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return verdict{negated, fmt.Sprintf("there is no %s", clip(name))}, nil
	case err != nil:
		return verdict{}, explain(name, err)
	case info.IsDir():
		return verdict{!negated, fmt.Sprintf("%s is a folder", clip(name))}, nil
	}
	return verdict{!negated, fmt.Sprintf("%s has %s", clip(name), format.Plural(int(info.Size()), "byte"))}, nil
}

func (w *work) contains(data string, groups []string) (verdict, error) {
	wanted := groups[1]
	return w.find(data, groups[0] != "", "the text "+strconv.Quote(clip(wanted)), func(s string) int { return strings.Index(s, wanted) })
}

func (w *work) matches(data string, groups []string) (verdict, error) {
	re, err := expression(groups[1])
	if err != nil {
		return verdict{}, err
	}
	return w.find(data, groups[0] != "", "a match of "+strconv.Quote(clip(groups[1])), func(s string) int {
		if at := re.FindStringIndex(s); at != nil {
			return at[0]
		}
		return -1
	})
}

// find decides whether a text contains something, and on which line first.
func (w *work) find(data string, negated bool, what string, index func(string) int) (verdict, error) {
	t, err := w.given(data)
	if err != nil {
		return verdict{}, err
	}
	at := index(string(t.data))
	if at < 0 {
		return verdict{negated, fmt.Sprintf("%s does not have %s", t.name, what)}, nil
	}
	line := 1 + strings.Count(string(t.data[:at]), "\n")
	return verdict{!negated, fmt.Sprintf("%s has %s on line %d", t.name, what, line)}, nil
}

// expression compiles a regular expression whose ^ and $ are ends of lines.
func expression(s string) (*regexp.Regexp, error) {
	if len(s) > maxQuery {
		return nil, fail(RuleBadInput, "the expression has %d bytes; at most %d are allowed", len(s), maxQuery)
	}
	re, err := regexp.Compile("(?m)" + s)
	if err != nil {
		return nil, fail(RuleBadInput, "%q is not a regular expression: %s", clip(s), syntaxOf(err))
	}
	return re, nil
}

func (w *work) valid(data string, groups []string) (verdict, error) {
	t, err := w.given(data)
	if err != nil {
		return verdict{}, err
	}
	name := strings.ToLower(groups[0])
	if _, err := formats[name].decode(t.data); err != nil {
		return verdict{false, fmt.Sprintf("%s is not valid %s: %v", t.name, name, err)}, nil
	}
	return verdict{true, fmt.Sprintf("%s is valid %s", t.name, name)}, nil
}

func (w *work) count(data string, groups []string) (verdict, error) {
	re, err := expression(groups[0])
	if err != nil {
		return verdict{}, err
	}
	t, err := w.given(data)
	if err != nil {
		return verdict{}, err
	}
	n := 0
	for _, line := range t.lines() {
		if re.MatchString(line) {
			n++
		}
	}
	return counted(n, groups[1], groups[2], fmt.Sprintf("%s with a match of %q in %s", format.Plural(n, "line"), clip(groups[0]), t.name))
}

func (w *work) lineCount(data string, groups []string) (verdict, error) {
	t, err := w.given(data)
	if err != nil {
		return verdict{}, err
	}
	n := len(t.lines())
	return counted(n, groups[0], groups[1], fmt.Sprintf("%s has %s", t.name, format.Plural(n, "line")))
}

func counted(n int, operator, wanted, evidence string) (verdict, error) {
	m, err := strconv.Atoi(wanted)
	if err != nil {
		return verdict{}, fail(RuleBadInput, "%q is not a number", wanted)
	}
	return verdict{holds(n-m, operator), evidence}, nil
}

// holds evaluates a comparison from its sign.
func holds(sign int, operator string) bool {
	switch operator {
	case "==":
		return sign == 0
	case "!=":
		return sign != 0
	case ">=":
		return sign >= 0
	case "<=":
		return sign <= 0
	case ">":
		return sign > 0
	}
	return sign < 0
}

func (w *work) value(data string, groups []string) (verdict, error) {
	path, operator, wanted := groups[0], groups[1], strings.TrimSpace(groups[2])
	t, err := w.given(data)
	if err != nil {
		return verdict{}, err
	}
	root, err := decodeData(t.data)
	if err != nil {
		return verdict{}, fail(ruleBadContent, "%s is neither JSON nor YAML: %v", t.name, err)
	}
	value, ok := lookUp(root, path)
	if !ok {
		return verdict{false, fmt.Sprintf("%s has no %s", t.name, clip(path))}, nil
	}
	other, err := decodeJSON([]byte(wanted))
	if err != nil {
		other = wanted // a word without quotes
	}
	shown, _ := json.Marshal(value) // it was decoded from JSON
	sign, comparable := order(value, other)
	if !comparable && (operator != "==" && operator != "!=" || isNumber(value) && isNumber(other)) {
		return verdict{}, fail(ruleUndecidable, "%s of %s is %s, which the engine cannot compare with %s",
			clip(path), t.name, clip(string(shown)), clip(wanted))
	}
	if !comparable {
		sign = 1 // not equal
	}
	return verdict{holds(sign, operator), fmt.Sprintf("%s of %s is %s", clip(path), t.name, clip(string(shown)))}, nil
}
