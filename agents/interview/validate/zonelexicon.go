package validate

import (
	"embed"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
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
	zone zone             // of entries, exceptions and cues
	lang session.Language // of the file
	// part numbers the parts of all cues, continues is true for all but the first part of a cue, and last
	// for its last part.
	part            int
	continues, last bool
}

// role is the role of a phrase.
type role uint8

const (
	entry      role = iota // the phrase enters the zone
	exception              // hits within the phrase do not count
	cue                    // the phrase is one part of a cue, which hints at the zone
	disclaimer             // the sentence avoids the zones
	trade                  // the adjacent words are products or customers
	link                   // may separate a phrase of trade from these words
)

// sharedLists maps the lists without a zone to the role of their phrases.
var sharedLists = map[string]role{"disclaimers": disclaimer, "trade": trade}

// languageOf returns the language of a file such as "health.fr.txt".
func languageOf(file string) session.Language {
	_, lang, _ := strings.Cut(strings.TrimSuffix(file, ".txt"), ".")
	return session.Language(lang)
}

// loadZoneLexicon reads the lexicon: a list for each zone, and the shared lists. A line with "!" lists
// exceptions, one with "+" links, and one with "~" a cue, whose parts are separated by "..".
func loadZoneLexicon() (*textfold.PhraseSet[meaning], error) {
	set := new(textfold.PhraseSet[meaning])
	entries, err := zoneFiles.ReadDir(zoneFolder)
	if err != nil {
		return nil, fmt.Errorf("list the lexicon: %w", err)
	}
	cueParts := 0
	for _, e := range entries {
		data, err := zoneFiles.ReadFile(path.Join(zoneFolder, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the lexicon: %w", err)
		}
		for list, line := range textfold.LexiconLines(string(data)) {
			m := meaning{role: sharedLists[list], lang: languageOf(e.Name())}
			if m.role == entry {
				m.zone = zone(list)
			}
			switch line[0] {
			case '!':
				m.role, line = exception, line[1:]
			case '+':
				m.role, line = link, line[1:]
			}
			parts := []string{line}
			if line[0] == '~' {
				m.role, parts = cue, strings.Split(line[1:], " .. ")
			}
			for i, line := range parts {
				if m.role == cue {
					m.part, m.continues, m.last = cueParts, i > 0, i == len(parts)-1
					cueParts++
				}
				if err := set.Add(line, m); err != nil {
					return nil, fmt.Errorf("%s: %w", e.Name(), err)
				}
			}
		}
	}
	return set, nil
}
