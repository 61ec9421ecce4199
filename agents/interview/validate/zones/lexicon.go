package zones

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

//go:embed lexicon/*.txt
var files embed.FS

// shipped is compiled when a text is first searched.
var shipped = sync.OnceValue(func() *machine {
	m, err := load()
	if err != nil {
		panic(err) // the files are part of the program, and a test loads them
	}
	return m
})

// machine is a tree of phrases, by words.
//
// Nearly every step of a search is one that leads nowhere. The two kinds that each
// word of a text asks for, from the root and by any word, are therefore kept in
// lists; only those within a phrase that has begun are looked up in a map.
type machine struct {
	ids   map[string]int32
	roots []int32 // by word, the node that it leads to from the root, 0 if none
	wild  []int32 // by node, the one that any word leads to, 0 if none
	edges map[edge]int32
	ends  [][]end // by node
	// longest is the number of words of the longest phrase.
	longest int
	// folded are the fields of phrases that were read, while the files are.
	folded map[string][]int32
}

type edge struct{ node, word int32 }

// end says what a phrase means that ends at a node.
type end struct {
	role role
	zone Zone // of an entry and an exception
}

// role is what a phrase does.
type role uint8

const (
	entry      role = iota // the phrase enters the zone
	exception              // what lies within the phrase does not
	disclaimer             // the sentence leaves the zones alone
	trade                  // what stands next to the phrase is sold, or buys
	link                   // may stand between a phrase of trade and what it says so of
)

// anyWord is the id of "_".
const anyWord int32 = 0

// others are the files that belong to no zone, and what their phrases do.
var others = map[string]role{"disclaimers": disclaimer, "trade": trade}

func newMachine() *machine {
	return &machine{
		ids: make(map[string]int32, 4<<10), roots: make([]int32, 1), // no phrase begins with anyWord
		edges: make(map[edge]int32, 50_000), wild: make([]int32, 1), ends: make([][]end, 1),
		folded: map[string][]int32{},
	}
}

// load compiles the files: one for each zone and language, named "zone.fr.txt",
// and the others.
func load() (*machine, error) {
	m := newMachine()
	entries, err := files.ReadDir("lexicon")
	if err != nil {
		return nil, fmt.Errorf("list the lexicon: %w", err)
	}
	for _, e := range entries {
		data, err := files.ReadFile(path.Join("lexicon", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the lexicon: %w", err)
		}
		name, _, _ := strings.Cut(e.Name(), ".")
		n := 0
		for line := range strings.Lines(string(data)) {
			n++
			if err := m.line(name, strings.TrimSpace(line)); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", e.Name(), n, err)
			}
		}
	}
	m.folded = nil
	return m, nil
}

// line adds the phrases of a line. Braces hold alternatives, as in a shell
// ("syndicat{,s}"), "_" is any one word, "!" begins an exception, "+" a link and
// "#" a comment.
func (m *machine) line(file, line string) error {
	if line == "" || line[0] == '#' {
		return nil
	}
	e := end{role: others[file]}
	if e.role == entry {
		e.zone = Zone(file)
	}
	switch line[0] {
	case '!':
		e.role, line = exception, line[1:]
	case '+':
		e.role, line = link, line[1:]
	}
	phrases, err := expand(line)
	if err != nil {
		return err
	}
	for _, p := range phrases {
		if err := m.add(p, e); err != nil {
			return err
		}
	}
	return nil
}

func (m *machine) add(phrase string, e end) error {
	node, n := int32(0), 0
	for field := range strings.FieldsSeq(phrase) {
		if field == "_" && n > 0 {
			node = m.child(node, anyWord)
			n++
			continue
		}
		for _, id := range m.fold(field) {
			node = m.child(node, id)
			n++
		}
	}
	if n == 0 || strings.HasPrefix(phrase, "_") {
		return fmt.Errorf("the phrase %q does not begin with a word", phrase)
	}
	m.longest = max(m.longest, n)
	if !slices.Contains(m.ends[node], e) {
		m.ends[node] = append(m.ends[node], e)
	}
	return nil
}

// fold returns the ids of the words in a part of a phrase.
func (m *machine) fold(field string) []int32 {
	ids, known := m.folded[field]
	if !known {
		for _, w := range textfold.Fold(field) {
			ids = append(ids, m.id(w))
		}
		m.folded[field] = ids
	}
	return ids
}

func (m *machine) id(word string) int32 {
	id, ok := m.ids[word]
	if !ok {
		id = int32(len(m.ids)) + 1 //nolint:gosec // there are some thousand words
		m.ids[word] = id
		m.roots = append(m.roots, 0)
	}
	return id
}

// after returns the node that a word leads to, 0 if none.
func (m *machine) after(node, word int32) int32 {
	switch {
	case word == anyWord:
		return m.wild[node]
	case node == 0:
		return m.roots[word]
	}
	return m.edges[edge{node, word}]
}

func (m *machine) child(node, word int32) int32 {
	next := m.after(node, word)
	if next != 0 {
		return next
	}
	next = int32(len(m.ends)) //nolint:gosec // there are some ten thousand nodes
	m.ends, m.wild = append(m.ends, nil), append(m.wild, 0)
	switch {
	case word == anyWord:
		m.wild[node] = next
	case node == 0:
		m.roots[word] = next
	default:
		m.edges[edge{node, word}] = next
	}
	return next
}

// maxPhrases bounds what one line stands for.
const maxPhrases = 5000

// expand returns what a line with braces stands for. Braces may be nested.
func expand(line string) ([]string, error) {
	open := strings.IndexByte(line, '{')
	if open < 0 {
		if strings.ContainsAny(line, "}") {
			return nil, fmt.Errorf("%q: a brace is closed that was not opened", line)
		}
		return []string{line}, nil
	}
	choices, length, err := braces(line[open:])
	if err != nil {
		return nil, err
	}
	tails, err := expand(line[open+length:])
	if err != nil {
		return nil, err
	}
	var all []string
	for _, choice := range choices {
		heads, err := expand(choice)
		if err != nil {
			return nil, err
		}
		for _, head := range heads {
			for _, tail := range tails {
				all = append(all, line[:open]+head+tail)
			}
		}
	}
	if len(all) > maxPhrases {
		return nil, fmt.Errorf("%q stands for %d phrases; at most %d are allowed", line, len(all), maxPhrases)
	}
	return all, nil
}

// braces splits "{a,b{c,d}}…" at its own commas and returns its length.
func braces(s string) (choices []string, length int, err error) {
	depth, from := 0, 1
	for i, c := range s {
		switch {
		case c == '{':
			depth++
		case c == ',' && depth == 1:
			choices, from = append(choices, s[from:i]), i+1
		case c == '}':
			if depth--; depth == 0 {
				return append(choices, s[from:i]), i + 1, nil
			}
		}
	}
	return nil, 0, fmt.Errorf("%q: a brace is not closed", s)
}
