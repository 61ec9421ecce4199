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

// zoneLexicon is read when a text is first searched.
var zoneLexicon = sync.OnceValue(func() *textfold.PhraseSet[meaning] {
	set, err := loadZoneLexicon()
	if err != nil {
		panic(err) // the files are part of the program, and a test loads them
	}
	return set
})

// meaning is what a phrase means.
type meaning struct {
	role role
	zone zone // of an entry and an exception
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

// sharedLists are the lists that belong to no zone, and what their phrases do.
var sharedLists = map[string]role{"disclaimers": disclaimer, "trade": trade}

// loadZoneLexicon reads the lexicon: a list for each zone, and the others. A line that begins with
// "!" holds exceptions, with "+" links.
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
