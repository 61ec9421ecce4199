// Package redact replaces secrets in texts before they are stored: given values, in various spellings, and
// keys of well-known forms.
package redact

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/escape"
)

// Redactor replaces secrets by "[REDACTED:kind]". It finds the given values in several spellings, and keys
// of well-known forms.
//
// It also searches the text with the escapes of JSON strings and URLs decoded, repeatedly, because
// arguments and results of tools are JSON within a text. Escapes therefore cannot hide a secret or the
// border of a word.
//
// A nil Redactor finds only the forms. It is safe for concurrent use.
//
// The cost is linear in the length of a text and of its decoded forms: one table look-up for each byte,
// independent of the number of values.
type Redactor struct {
	literals table
}

// minSecret is the minimum length of a given value in bytes; replacing shorter ones would remove ordinary
// words.
const minSecret = 8

// New returns a Redactor for the given values. It ignores values of less than 8 bytes. See SecretsIn.
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

// SecretsIn returns the values of variables with secret names in an environment of "NAME=value" pairs, such
// as OPENAI_API_KEY or MYSQL_PWD, and the passwords in URLs. It ignores values of less than 8 bytes.
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

// Text returns s with its secrets replaced.
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

// Secret is a secret in a text: the bytes from From up to To.
type Secret struct {
	From, To int
	Kind     string
}

// Mark returns the replacement of the secret.
func (s Secret) Mark() string { return "[REDACTED:" + s.Kind + "]" }

// Limits of the repeated decoding of escapes. Each level of JSON within JSON doubles the backslashes, so
// real texts have few levels.
const (
	maxJSON    = 8
	maxPercent = 2
)

// Find returns the secrets in s in order. It joins overlapping secrets under the kind of the first one.
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

// inURLs adds the secrets that it finds in s after decoding the escapes of URLs, up to levels times.
func (r *Redactor) inURLs(s string, found []Secret, levels int) []Secret {
	text, ok := escape.Percent.Decode(s)
	if !ok || levels == 0 {
		return found
	}
	within := r.inURLs(text, r.inJSON(text), levels-1)
	return merge(append(found, origins(escape.Percent, s, within)...))
}

// inJSON finds the secrets in s and in its decoded forms.
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

// origins maps positions of secrets in the decoded form of s to positions in s.
func origins(e escape.Encoding, s string, found []Secret) []Secret {
	cursor := e.Cursor(s)
	for i, f := range found {
		found[i].From = cursor.Begin(f.From)
		found[i].To = cursor.End(f.To)
	}
	return found
}

// whole extends secrets that begin or end within an escape to the whole escape, so that the rest stays
// decodable.
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

// general ranks the kinds that are recognised by the text before a secret after the kinds that are
// recognised by the secret itself.
func general(kind string) int { return slices.Index([]string{"bearer-token", "authorization"}, kind) }
