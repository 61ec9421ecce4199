// Package redact replaces secrets in texts before they are stored: values that it is
// given, in any spelling, and keys of well-known forms.
package redact

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/escape"
)

// Redactor replaces secrets by "[REDACTED:kind]" before a text is stored. It finds the
// values that it was given, in the spellings that spellings lists, and the forms of
// well-known keys, see forms.
//
// A text that contains JSON strings or URLs is also searched with their escapes decoded,
// repeatedly, as the arguments and results of tools are JSON within a text. So no escape
// hides a secret or the border of a word.
//
// A nil Redactor finds the forms only. It is safe for concurrent use.
//
// The cost is linear in the length of a text: one table look-up for each byte, however
// many values there are, for the text and for each text that is decoded from it.
type Redactor struct {
	literals table
}

// minSecret is the length in bytes from which a given value is a secret; replacing
// shorter ones would remove ordinary words.
const minSecret = 8

// New returns a Redactor that also finds the given values. Values of less than 8
// bytes are ignored. See SecretsIn.
func New(values []string) *Redactor {
	r := &Redactor{literals: forms.literals.clone()}
	for _, v := range values {
		if len(v) >= minSecret {
			for _, l := range spellings(v) {
				r.literals.add(l)
			}
		}
	}
	return r
}

// SecretsIn returns the values of an environment of "NAME=value" pairs that are secret by
// their names, such as OPENAI_API_KEY or MYSQL_PWD, and the passwords in the URLs of all
// variables. Those of less than 8 bytes are left out.
func SecretsIn(environ []string) []string {
	var values []string
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		for _, v := range secretValues(name, value) {
			if len(v) >= minSecret {
				values = append(values, v)
			}
		}
	}
	return values
}

// Text returns s with its secrets replaced; s itself if it has no secret.
func (r *Redactor) Text(s string) string {
	found := r.Find(s)
	if len(found) == 0 {
		return s
	}
	var b strings.Builder
	done := 0
	for _, f := range found {
		b.WriteString(s[done:f.From])
		b.WriteString(f.Mark())
		done = f.To
	}
	b.WriteString(s[done:])
	return b.String()
}

// Secret is a place in a text that Text replaces: the bytes from From up to To.
type Secret struct {
	From, To int
	Kind     string
}

// Mark is what stands in a secret's place.
func (s Secret) Mark() string { return "[REDACTED:" + s.Kind + "]" }

// How often the escapes of a text are decoded. Each level of JSON within JSON doubles the
// backslashes, so that real texts have few.
const (
	maxJSON    = 8
	maxPercent = 2
)

// Find returns the secrets in s in their order. They do not overlap: of several
// that do, it makes one of the first one's kind.
func (r *Redactor) Find(s string) []Secret {
	if r == nil {
		r = forms
	}
	found := r.inJSON(s)
	if strings.IndexByte(s, '%') < 0 {
		return found
	}
	return r.inURLs(s, found, maxPercent)
}

// inURLs adds to the secrets that were found in s those that show once the escapes of
// URLs are decoded, levels times.
func (r *Redactor) inURLs(s string, found []Secret, levels int) []Secret {
	text, ok := escape.Percent.Decode(s)
	if !ok || levels == 0 {
		return found
	}
	within := r.inURLs(text, r.inJSON(text), levels-1)
	return merge(append(found, origins(escape.Percent, s, within)...))
}

// inJSON finds secrets in s and in what its escapes stand for.
func (r *Redactor) inJSON(s string) []Secret {
	if strings.IndexByte(s, '\\') < 0 {
		return merge(r.literals.search(s))
	}
	return r.decoded(s, maxJSON)
}

func (r *Redactor) decoded(s string, levels int) []Secret {
	found := r.literals.search(s)
	text, ok := escape.JSON.Decode(s)
	if !ok || levels == 0 {
		return merge(found)
	}
	within := origins(escape.JSON, s, r.decoded(text, levels-1))
	found = merge(append(found, within...))
	return merge(whole(escape.JSON, s, found))
}

// origins moves secrets that were found in what s decodes to into s.
func origins(e escape.Encoding, s string, found []Secret) []Secret {
	cursor := e.Cursor(s)
	for i, f := range found {
		found[i].From = cursor.Begin(f.From)
		found[i].To = cursor.End(f.To)
	}
	return found
}

// whole widens secrets that begin or end within an escape to the whole of it, so that
// what remains can be decoded.
func whole(e escape.Encoding, s string, found []Secret) []Secret {
	if len(found) == 0 {
		return found
	}
	cursor := e.Cursor(s)
	for i, f := range found {
		found[i].From, _ = cursor.Around(f.From)
		_, found[i].To = cursor.Around(f.To)
	}
	return found
}

// merge sorts secrets and joins overlapping ones.
func merge(found []Secret) []Secret {
	if len(found) < 2 {
		return found
	}
	slices.SortStableFunc(found, func(a, b Secret) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To), cmp.Compare(general(a.Kind), general(b.Kind)))
	})
	n := 0
	for _, f := range found[1:] {
		if f.From < found[n].To {
			found[n].To = max(found[n].To, f.To)
			continue
		}
		n++
		found[n] = f
	}
	return found[:n+1]
}

// general ranks kinds that are found by what stands before a secret behind those that are
// found by the secret itself.
func general(kind string) int { return slices.Index([]string{"bearer-token", "authorization"}, kind) }
