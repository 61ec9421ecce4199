package redact

import (
	"maps"
	"strings"
)

// literal is the fixed beginning of a secret.
type literal struct {
	text string
	kind string
	// fold ignores case.
	fold bool
	// end returns where the secret that begins with the literal at s[from] begins and
	// ends; to == 0 means that it is not a secret.
	end func(t *searched, from int, l *literal) (start, to int)
}

// table finds literals in a text by their rarest pair of bytes.
//
// The pairs are in eight groups, with a bit each. The tables first and second have, for each byte, the
// groups with pairs that begin or end with the byte. They rule out most of a text.
type table struct {
	first, second [256]uint8
	literals      map[[2]byte][]placed
}

// placed is a literal with the offset of its rarest pair.
type placed struct {
	*literal
	at int
}

func newTable(literals []literal) table {
	t := table{literals: make(map[[2]byte][]placed, len(literals))}
	for _, l := range literals {
		t.add(l)
	}
	return t
}

func (t *table) clone() table {
	return table{first: t.first, second: t.second, literals: maps.Clone(t.literals)}
}

// add adds a literal of at least two bytes.
func (t *table) add(l literal) {
	at := 0
	for i := 1; i+1 < len(l.text); i++ {
		if commonness(l.text[i])+commonness(l.text[i+1]) < commonness(l.text[at])+commonness(l.text[at+1]) {
			at = i
		}
	}
	a, b := l.text[at:at+1], l.text[at+1:at+2]
	spellings := map[string]bool{a + b: true}
	if l.fold {
		for _, first := range []string{strings.ToLower(a), strings.ToUpper(a)} {
			spellings[first+strings.ToLower(b)] = true
			spellings[first+strings.ToUpper(b)] = true
		}
	}
	for s := range spellings {
		key := [2]byte{s[0], s[1]}
		group := uint8(1) << (key[0] & 7)
		t.first[key[0]] |= group
		t.second[key[1]] |= group
		// Copy the slice, because another table may share it.
		t.literals[key] = append(t.literals[key][:len(t.literals[key]):len(t.literals[key])], placed{&l, at})
	}
}

// commonness ranks a byte by its frequency in prose and code. The order of letters is that of English.
func commonness(b byte) int {
	const order = "zqxjkvbpygfwmucldrhsnioate "
	switch i := strings.IndexByte(order, b); {
	case i >= 0:
		return 64 + i
	case b >= '0' && b <= '9', strings.IndexByte("-_./:=,\"\n", b) >= 0:
		return 64
	}
	return 0
}

// search returns the secrets in s, which may overlap.
func (t *table) search(s string) (found []Secret) {
	if len(s) < 2 {
		return nil
	}
	var text *searched
	for i := 1; i < len(s); i++ {
		if t.first[s[i-1]]&t.second[s[i]] == 0 {
			continue
		}
		for _, l := range t.literals[[2]byte{s[i-1], s[i]}] {
			from := i - 1 - l.at
			if from < 0 || !l.begins(s[from:]) {
				continue
			}
			if text == nil {
				text = &searched{s: s}
			}
			if start, to := l.end(text, from, l.literal); to > start {
				found = append(found, Secret{From: start, To: to, Kind: l.kind})
			}
		}
	}
	return found
}

func (l *literal) begins(s string) bool {
	if !l.fold {
		return strings.HasPrefix(s, l.text)
	}
	return len(s) >= len(l.text) && strings.EqualFold(s[:len(l.text)], l.text)
}

// searched is a text with partial results of the search, to avoid reading parts of it repeatedly.
type searched struct {
	s string
	// runs are the last runs of each class of bytes.
	runs [classes]struct{ from, to int }
	// tried is the end of the last run that was tried as the header of a token.
	tried int
	// block is the end of the last private key.
	block int
	// closing and opening are the next END and BEGIN line; see next.
	closing, opening marker
}

// run returns the end of the run of bytes of the class that begins at s[i].
func (t *searched) run(i int, c class) int {
	known := &t.runs[c]
	if known.from <= i && i < known.to {
		return known.to
	}
	end := i
	for end < len(t.s) && members[c][t.s[end]] {
		end++
		if end == known.from && known.to > end {
			end = known.to
			break
		}
	}
	known.from, known.to = i, end
	return end
}

// marker is the next occurrence of a text.
type marker struct {
	known bool
	at    int // or -1
}

// next returns the offset of text in s from offset from on, or -1. The offsets must be ascending.
func (m *marker) next(s, text string, from int) int {
	if m.known && (m.at < 0 || m.at >= from) {
		return m.at
	}
	m.known, m.at = true, -1
	if i := strings.Index(s[from:], text); i >= 0 {
		m.at = from + i
	}
	return m.at
}
