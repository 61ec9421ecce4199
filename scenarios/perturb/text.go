package perturb

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/mocks"
)

// maxText limits the length of a text form in bytes; results of String are shorter.
const maxText = 256

// form is the regular expression of a text form, for editors; Parse is stricter.
const form = `^(call|tool|write|turn)=[1-9][0-9]{0,8}:[a-z0-9_-]+(,[a-z_]+=[^,=]+)*$`

// Parse parses the text form of a perturbation: POINT=N:WHAT[,OPTION=VALUE]... The result is valid,
// and its String is the same text except for the order of options and the format of durations.
func Parse(text string) (Perturbation, error) {
	if len(text) > maxText {
		return Perturbation{}, fmt.Errorf("the perturbation %.40q... has %d bytes; at most %d are allowed", text, len(text), maxText)
	}
	head, options, some := strings.Cut(text, ",")
	where, do, ok := strings.Cut(head, ":")
	point, number, counted := strings.Cut(where, "=")
	if !ok || !counted {
		return Perturbation{}, fmt.Errorf("%q is not a perturbation; write point=number:what, such as call=7:reset-mid-stream", text)
	}
	p := Perturbation{At: Point(point), Do: do}
	n, err := count(number)
	if err != nil {
		return Perturbation{}, fmt.Errorf("perturbation %q: number of the %.20s: %w", text, point, err)
	}
	p.N = n
	if p.At == Call && !slices.Contains(answerKinds, do) {
		p.Fault = &mocks.Fault{Kind: do}
	}
	if err = p.kind(); err == nil && some {
		err = p.options(options)
	}
	if err == nil {
		err = p.Validate()
	}
	if err != nil {
		return Perturbation{}, fmt.Errorf("perturbation %q: %w", text, err)
	}
	return p, nil
}

// count parses a positive integer in plain digits.
func count(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == 0 || n > maxCount || text[0] == '0' {
		return 0, fmt.Errorf("%.20q is not a whole number from 1 to %d", text, maxCount)
	}
	return int(n), nil
}

// option is an option of some perturbations.
type option struct {
	name string
	// get returns the value as text, empty if it is not set.
	get func(p *Perturbation) string
	// set parses the value. It is only called for perturbations that have the option.
	set func(p *Perturbation, value string) error
	has func(p *Perturbation) bool
}

// options are in the order of the text form.
var options = []option{
	{
		"first",
		func(p *Perturbation) string { return duration(p.First) },
		func(p *Perturbation, v string) error { return setDuration(&p.First, v) },
		func(p *Perturbation) bool { return p.At == Call && p.Do == Latency },
	},
	{
		"every",
		func(p *Perturbation) string { return number(p.Every) },
		func(p *Perturbation, v string) error { return setCount(&p.Every, v) },
		func(p *Perturbation) bool { return p.At == Write },
	},
	faultOption("status", func(f *mocks.Fault) string { return number(f.Status) },
		func(f *mocks.Fault, v string) error { return setCount(&f.Status, v) }),
	faultOption("retry_after", func(f *mocks.Fault) string { return duration(f.RetryAfter) },
		func(f *mocks.Fault, v string) error { return setDuration(&f.RetryAfter, v) }),
	faultOption("after", func(f *mocks.Fault) string {
		if f.After == nil {
			return ""
		}
		return strconv.Itoa(*f.After)
	}, func(f *mocks.Fault, v string) error {
		n := 0
		f.After = &n
		if v == "0" {
			return nil
		}
		return setCount(&n, v)
	}),
	faultOption("delay", func(f *mocks.Fault) string { return duration(f.Delay) },
		func(f *mocks.Fault, v string) error { return setDuration(&f.Delay, v) }),
	faultOption("times", func(f *mocks.Fault) string { return number(f.Times) },
		func(f *mocks.Fault, v string) error { return setCount(&f.Times, v) }),
}

func faultOption(name string, get func(*mocks.Fault) string, set func(*mocks.Fault, string) error) option {
	return option{
		name,
		func(p *Perturbation) string {
			if p.Fault == nil {
				return ""
			}
			return get(p.Fault)
		},
		func(p *Perturbation, v string) error { return set(p.Fault, v) },
		func(p *Perturbation) bool { return p.Fault != nil },
	}
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func duration(d quantity.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func setCount(to *int, value string) (err error) {
	*to, err = count(value)
	return err
}

func setDuration(to *quantity.Duration, value string) error {
	if err := to.UnmarshalText([]byte(value)); err != nil {
		return err
	}
	if *to == 0 {
		return errors.New("a time of 0 has no effect; remove it")
	}
	return nil
}

func (p *Perturbation) options(list string) error {
	given := map[string]bool{}
	for text := range strings.SplitSeq(list, ",") {
		name, value, ok := strings.Cut(text, "=")
		i := slices.IndexFunc(options, func(o option) bool { return o.name == name && o.has(p) })
		switch {
		case i < 0:
			return p.unknownOption(name)
		case !ok || value == "":
			return fmt.Errorf("the option %s has no value; write %s=VALUE", name, name)
		case given[name]:
			return fmt.Errorf("the option %s is repeated", name)
		}
		given[name] = true
		if err := options[i].set(p, value); err != nil {
			return fmt.Errorf("the option %s: %w", name, err)
		}
	}
	return nil
}

func (p *Perturbation) unknownOption(name string) error {
	var known []string
	for _, o := range options {
		if o.has(p) {
			known = append(known, o.name)
		}
	}
	if len(known) == 0 {
		return fmt.Errorf("%q is not an option here; %s has none", clip(name), p.Do)
	}
	return fmt.Errorf("%q is not an option of %s; choose from %s%s", clip(name), p.Do, strings.Join(known, ", "), meant(name, known))
}

// String returns the text form, which Parse reads.
func (p Perturbation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s=%d:%s", p.At, p.N, p.Do)
	for _, o := range options {
		if value := o.get(&p); value != "" {
			fmt.Fprintf(&b, ",%s=%s", o.name, value)
		}
	}
	return b.String()
}

// MarshalText implements encoding.TextMarshaler.
func (p Perturbation) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Perturbation) UnmarshalText(text []byte) (err error) {
	*p, err = Parse(string(text))
	return err
}

// JSONSchema describes the text form to editors.
func (Perturbation) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "string", Pattern: form,
		Description: "A perturbation of the golden path: point=number:what, with options after commas, such as " +
			"call=7:reset-mid-stream, call=3:latency,first=30s, write=12:crash-before or turn=4:double.",
		Examples: []any{
			"call=7:reset-mid-stream", "call=7:status,status=503,times=3", "call=3:latency,first=30s",
			"write=12:crash-before", "turn=4:double",
		},
	}
}

// meant suggests the nearest word.
func meant(word string, known []string) string {
	if near := suggest.Nearest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// clip shortens a quoted word in an error.
func clip(word string) string { return sanitize.Shorten(word, 40) }

// kind returns an error for an unknown point or kind.
func (p *Perturbation) kind() error {
	known, ok := kinds[p.At]
	if !ok {
		points := slices.Sorted(maps.Keys(kinds))
		var names []string
		for _, point := range points {
			names = append(names, string(point))
		}
		return fmt.Errorf("%q is not a point; choose from %s%s", clip(string(p.At)), strings.Join(names, ", "), meant(string(p.At), names))
	}
	if slices.Contains(known, p.Do) {
		return nil
	}
	hint := meant(p.Do, known)
	if hint == "" { // no near match
		hint = "; choose from " + strings.Join(known, ", ")
	}
	return fmt.Errorf("%q cannot happen at a %s%s", clip(p.Do), p.At, hint)
}
