package record

import (
	"cmp"
	"slices"
	"strings"
)

// Redactor replaces secrets by "[REDACTED:kind]" before a text is stored. It
// works on decoded text, so that no escaping hides a secret. It knows the values
// that it was given and the forms of well-known keys: OpenAI and Anthropic keys
// (sk-), GitHub tokens (ghp_ and its like, github_pat_), AWS key ids (AKIA,
// ASIA), Slack tokens (xox.-), Google API keys (AIza), bearer tokens, JSON Web
// Tokens and private key blocks.
//
// A nil Redactor knows the forms only. It is safe for concurrent use.
//
// Cost: each literal is looked up by one of its rarer bytes, and one vectorised
// scan serves all literals that share that byte; a text without any of these
// bytes costs a few scans at memory speed and no allocation.
type Redactor struct {
	anchors []anchor
}

// minSecret is the length from which a given value is taken for a secret;
// replacing shorter ones would blank out ordinary words.
const minSecret = 8

// NewRedactor returns a Redactor that also knows the given values. Values of less
// than 8 bytes are ignored. See SecretsIn.
func NewRedactor(values []string) *Redactor {
	r := &Redactor{anchors: slices.Clone(forms.anchors)}
	for i := range r.anchors {
		r.anchors[i].literals = slices.Clone(r.anchors[i].literals)
	}
	for _, v := range values {
		if len(v) >= minSecret {
			r.add(literal{text: v, kind: "secret", end: wholeLiteral})
		}
	}
	return r
}

// SecretsIn returns the values that look secret in an environment of "NAME=value"
// pairs: those of 8 bytes or more whose name contains KEY, TOKEN, SECRET or
// PASSWORD.
func SecretsIn(environ []string) []string {
	var values []string
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		name = strings.ToUpper(name)
		if len(value) < minSecret {
			continue
		}
		for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD"} {
			if strings.Contains(name, word) {
				values = append(values, value)
				break
			}
		}
	}
	return values
}

// Text returns s without secrets; s itself if there are none.
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

// Find returns the secrets in s in their order. They do not overlap: of several
// that do, it makes one of the first one's kind.
func (r *Redactor) Find(s string) []Secret {
	if r == nil {
		r = forms
	}
	var found []Secret
	for i := range r.anchors {
		found = r.anchors[i].search(s, found)
	}
	if len(found) < 2 {
		return found
	}
	slices.SortStableFunc(found, func(a, b Secret) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To))
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

// literal is the fixed beginning of a secret.
type literal struct {
	text string
	kind string
	at   int // offset of the anchor byte in text
	// end returns where the secret that begins at s[from] ends, and from where
	// it is replaced; to == 0 means that it is no secret.
	end func(s string, from int, l *literal) (start, to int)
}

// anchor is a byte and the literals that are looked up by it.
type anchor struct {
	b        byte
	literals []literal
}

// add files l under an anchor that exists already, so that no further scan is
// needed, or else under its rarest byte.
func (r *Redactor) add(l literal) {
	for i := range r.anchors {
		if at := strings.IndexByte(l.text, r.anchors[i].b); at >= 0 {
			l.at = at
			r.anchors[i].literals = append(r.anchors[i].literals, l)
			return
		}
	}
	for i := range len(l.text) {
		if commonness(l.text[i]) < commonness(l.text[l.at]) {
			l.at = i
		}
	}
	r.anchors = append(r.anchors, anchor{b: l.text[l.at], literals: []literal{l}})
}

// commonness ranks a byte by how often it occurs in prose and code; the order
// within English text is that of the usual letter-frequency tables.
func commonness(b byte) int {
	const order = "zqxjkvbpygfwmucldrhsnioate "
	if i := strings.IndexByte(order, b); i >= 0 {
		return 64 + i
	}
	if b >= '0' && b <= '9' {
		return 32
	}
	return 0
}

func (a *anchor) search(s string, found []Secret) []Secret {
	for i := 0; i < len(s); i++ {
		j := strings.IndexByte(s[i:], a.b)
		if j < 0 {
			break
		}
		i += j
		for k := range a.literals {
			l := &a.literals[k]
			from := i - l.at
			if from < 0 || s[from] != l.text[0] || !strings.HasPrefix(s[from:], l.text) {
				continue
			}
			if start, to := l.end(s, from, l); to > 0 {
				found = append(found, Secret{From: start, To: to, Kind: l.kind})
			}
		}
	}
	return found
}
