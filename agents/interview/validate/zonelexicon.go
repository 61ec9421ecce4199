package validate

import (
	"embed"
	"fmt"
	"path"
	"sync"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

//go:embed lexicon/zones/*.txt
var zoneFiles embed.FS

const zoneFolder = "lexicon/zones"

// zoneLexicon returns the lexicon, which is loaded on the first use.
var zoneLexicon = sync.OnceValue(func() *textfold.PhraseSet[meaning] {
	set, err := loadZoneLexicon()
	if err != nil {
		panic(err) // the files are part of the program, and a test loads them
	}
	return set
})

// meaning is the meaning of a phrase.
type meaning struct {
	role role
	zone zone // of entries and exceptions
}

// role is the role of a phrase.
type role uint8

const (
	entry      role = iota // the phrase enters the zone
	exception              // hits within the phrase do not count
	disclaimer             // the sentence avoids the zones
	trade                  // the adjacent words are products or customers
	link                   // may separate a phrase of trade from these words
)

// sharedLists maps the lists without a zone to the role of their phrases.
var sharedLists = map[string]role{"disclaimers": disclaimer, "trade": trade}

// loadZoneLexicon reads the lexicon: a list for each zone, and the shared lists. A line with "!" lists
// exceptions, and one with "+" links.
func loadZoneLexicon() (*textfold.PhraseSet[meaning], error) {
	set := new(textfold.PhraseSet[meaning])
	entries, err := zoneFiles.ReadDir(zoneFolder)
	if err != nil {
		return nil, fmt.Errorf("list the lexicon: %w", err)
	}
	for _, e := range entries {
		data, err := zoneFiles.ReadFile(path.Join(zoneFolder, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the lexicon: %w", err)
		}
		for list, line := range textfold.LexiconLines(string(data)) {
			m := meaning{role: sharedLists[list]}
			if m.role == entry {
				m.zone = zone(list)
			}
			switch line[0] {
			case '!':
				m.role, line = exception, line[1:]
			case '+':
				m.role, line = link, line[1:]
			}
			if err := set.Add(line, m); err != nil {
				return nil, fmt.Errorf("%s: %w", e.Name(), err)
			}
		}
	}
	return set, nil
}
