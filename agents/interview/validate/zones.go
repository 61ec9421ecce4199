package validate

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// zone is a subject that an interview must avoid.
type zone string

// The zones.
const (
	zoneOrigin     zone = "origin"
	zoneReligion   zone = "religion"
	zonePolitics   zone = "politics"
	zoneHealth     zone = "health"
	zoneDisability zone = "disability"
	zoneSexuality  zone = "sexuality"
	zoneUnion      zone = "union"
	zoneTrauma     zone = "trauma"
	zonePathology  zone = "pathology"
	zoneFamily     zone = "family"
	zoneAge        zone = "age"

	// zonePrivate is any of the zones, as the classifier does not distinguish them.
	zonePrivate zone = "private"
)

// zones lists the zones.
func zones() []zone {
	return []zone{
		zoneOrigin, zoneReligion, zonePolitics, zoneHealth, zoneDisability, zoneSexuality, zoneUnion, zoneTrauma, zonePathology,
		zoneFamily, zoneAge,
	}
}

// zoneHit is a place in a text that enters a zone.
type zoneHit struct {
	Zone       zone
	Start, End int // bytes
}

// maxHits is the maximum number of hits in one text.
const maxHits = 1000

// findZones returns the places where a text enters a zone, in order, at most maxHits of them. It takes
// linear time.
func findZones(text string) []zoneHit {
	s := zoneScan{lexicon: zoneLexicon(), tradeEnd: -1}
	r := textfold.NewReader(text)
	initial := false // whether the last word is one letter, as in "U.S."
	end := 0
	for w, ok := r.Next(); ok && len(s.found) < maxHits; w, ok = r.Next() {
		abbreviated := initial && strings.HasPrefix(w.Gap, ".")
		if w.Gap != " " && !abbreviated && endsSentence(w.Gap) {
			s.endSentence(strings.ContainsAny(w.Gap, "?？"))
		}
		s.word(w)
		initial, end = len(w.Text) == 1, w.End
	}
	s.endSentence(strings.ContainsAny(text[end:], "?？"))
	return s.found[:min(len(s.found), maxHits)]
}

// endsSentence reports whether a phrase cannot continue across the text between two words.
func endsSentence(gap string) bool {
	return strings.ContainsAny(gap, ".!?？;…") || strings.Count(gap, "\n") > 1
}

// zoneScan is the state of one search.
type zoneScan struct {
	lexicon *textfold.PhraseSet[meaning]
	at      int // number of words
	// active lists the phrases in progress, and next the phrases that continue after the current word.
	active, next []thread
	// joined is the current run of hyphenated words as one word, run its start, and before lists the
	// phrases in progress at its start.
	joined string
	run    thread
	before []thread

	// The hits in the current sentence, and the exceptions.
	hits, exceptions []zoneMatch
	disclaimed       bool // the sentence states that it avoids the zones
	// tradeEnd is the index of the word after a phrase of trade and its links, and tradeStarts lists the
	// indexes of the first words of such phrases in order.
	tradeEnd    int
	tradeStarts []int

	found []zoneHit
}

// thread is a phrase in progress.
type thread struct {
	state      textfold.PhraseState
	word       int  // index of the first word
	afterTrade bool // directly after a phrase of trade
	start, end int  // bytes
}

// zoneMatch is a phrase that was found.
type zoneMatch struct {
	thread
	last int // index of the last word
	zone zone
}

// maxJoined is the maximum length of words with hyphens that are read as one.
const maxJoined = 32

// word continues all phrases by one word, and by the joined form of the words that hyphens connect
// ("handi-cap").
func (s *zoneScan) word(w textfold.Word) {
	first := thread{word: s.at, afterTrade: s.tradeEnd == s.at, start: w.Start}
	tied := isHyphen(w.Gap) && len(s.joined) > 0
	if !tied {
		s.joined, s.run = "", first
		s.before = append(s.before[:0], s.active...)
	}
	text := string(w.Text)
	if len(s.joined) <= maxJoined {
		s.joined += text
	}
	s.next = s.next[:0]
	s.step(s.active, first, text, w.End)
	if tied && len(s.joined) <= maxJoined {
		s.step(s.before, s.run, s.joined, w.End)
	}
	s.active, s.next = s.next, s.active
	s.at++
}

// step continues each phrase in progress by a word, and begins a new one.
func (s *zoneScan) step(begun []thread, first thread, text string, end int) {
	for _, t := range begun {
		s.follow(t, text, end)
	}
	s.follow(first, text, end)
}

// follow continues one phrase by one word.
func (s *zoneScan) follow(t thread, text string, end int) {
	for state := range s.lexicon.Next(t.state, text) {
		t.state, t.end = state, end
		s.next = append(s.next, t)
		for _, m := range s.lexicon.Values(state) {
			s.apply(t, m)
		}
	}
}

// apply records the meaning of a phrase that ends at the current word.
func (s *zoneScan) apply(t thread, m meaning) {
	switch m.role {
	case entry:
		s.hits = append(s.hits, zoneMatch{t, s.at, m.zone})
		if t.afterTrade { // applies to further entries of a list
			s.tradeEnd = s.at + 1
		}
	case exception:
		s.exceptions = append(s.exceptions, zoneMatch{t, s.at, m.zone})
	case disclaimer:
		s.disclaimed = true
	case trade:
		s.tradeEnd = s.at + 1
		s.tradeStarts = append(s.tradeStarts, t.word)
	case link:
		if t.afterTrade {
			s.tradeEnd = s.at + 1
		}
	}
}

// endSentence adds the hits without an exception. A question is never a disclaimer.
func (s *zoneScan) endSentence(question bool) {
	from := 0
	for _, h := range s.hits {
		// Both lists are in order of their last words.
		for from < len(s.exceptions) && s.exceptions[from].last < h.last {
			from++
		}
		if s.disclaimed && !question || s.isExcepted(h, from) || s.isTraded(h) {
			continue
		}
		s.addHit(h)
	}
	s.active, s.before, s.joined = s.active[:0], s.before[:0], ""
	s.hits, s.exceptions, s.disclaimed = s.hits[:0], s.exceptions[:0], false
	s.tradeEnd, s.tradeStarts = -1, s.tradeStarts[:0]
}

// isTraded reports whether a phrase of trade directly precedes or follows a hit: the candidate sells
// the product, or sells to the people.
func (s *zoneScan) isTraded(h zoneMatch) bool {
	_, after := slices.BinarySearch(s.tradeStarts, h.last+1)
	return h.afterTrade || after
}

// isExcepted reports whether an exception, from an index on, covers a hit.
func (s *zoneScan) isExcepted(h zoneMatch, from int) bool {
	for _, e := range s.exceptions[from:] {
		if e.last > h.last+s.lexicon.Longest() {
			return false
		}
		if e.zone == h.zone && e.word <= h.word {
			return true
		}
	}
	return false
}

// addHit adds a hit, or extends the last one if they overlap.
func (s *zoneScan) addHit(h zoneMatch) {
	if n := len(s.found); n > 0 {
		last := &s.found[n-1]
		if last.Zone == h.zone && h.start < last.End {
			last.Start, last.End = min(last.Start, h.start), max(last.End, h.end)
			return
		}
	}
	s.found = append(s.found, zoneHit{h.zone, h.start, h.end})
}

func isHyphen(gap string) bool {
	switch gap {
	case "-", "‐", "‑", "–", "-\n":
		return true
	}
	return false
}
