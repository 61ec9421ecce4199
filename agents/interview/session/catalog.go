package session

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

//go:embed catalog.txt
var catalogText string

// catalog has the titles of well-known works: translations and short forms cannot be found by spelling.
type catalog struct {
	titles [][]string       // of each work
	works  map[string][]int // by the title, see catalogKey
	spelt  []spelling
}

// spelling is a title of the catalog as it sounds, in one word.
type spelling struct {
	heard string
	work  int
}

var knownTitles = sync.OnceValue(func() *catalog {
	c := &catalog{works: map[string][]int{}}
	for line := range strings.Lines(catalogText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		work := len(c.titles)
		names := strings.Split(strings.TrimSpace(line), " = ")
		c.titles = append(c.titles, names)
		for _, name := range names {
			words := titleWords(name)
			for _, id := range []string{catalogKey(words), catalogKey(textfold.Fold(name))} { // lalaland
				if !slices.Contains(c.works[id], work) {
					c.works[id] = append(c.works[id], work)
				}
			}
			c.spelt = append(c.spelt, spelling{heardAs(words), work})
		}
	}
	return c
})

func catalogKey(words []string) string { return strings.Join(words, "") }

// exactly returns the works with a title.
func (c *catalog) exactly(name string) []int { return c.works[catalogKey(titleWords(name))] }

// of returns the works that a candidate may mean by a name: those with this title, or else with this title
// and a remark, or else with the most similar one.
func (c *catalog) of(name string) []int {
	base := titleWords(name)
	bare, _ := withoutHead(base)
	stem, _ := withoutVolumes(bare)
	for _, list := range [][]string{base, bare, withoutTail(bare), stem, c.withoutRemarks(base)} {
		if works := c.works[catalogKey(list)]; works != nil {
			return works
		}
	}
	if list := withoutTail(bare); len(keyOf(list)) >= shortWords && letterCount(list) >= shortLetters {
		if works := partsOfTitles()[catalogKey(list)]; len(works) == 1 {
			return works
		}
	}
	return c.similar(heardAs(withoutTail(bare)))
}

// partsOfTitles has the works by parts of their titles, such as "Walter Mitty".
var partsOfTitles = sync.OnceValue(func() map[string][]int {
	parts := map[string][]int{}
	for work, titles := range knownTitles().titles {
		for _, title := range titles {
			words := titleWords(title)
			for first := range words {
				for n := first + shortWords; n <= len(words); n++ {
					id := catalogKey(words[first:n])
					if len(keyOf(words[first:n])) >= shortWords && letterCount(words[first:n]) >= shortLetters && !slices.Contains(parts[id], work) {
						parts[id] = append(parts[id], work)
					}
				}
			}
		}
	}
	return parts
})

// heardAs returns how a title sounds, without spaces.
func heardAs(title []string) string {
	var b strings.Builder
	for _, word := range title {
		if n, ok := numerals[phonetic(word)]; ok {
			word = n
		}
		b.WriteString(phonetic(arabic(word)))
	}
	return sounds.Replace(b.String())
}

// sounds replaces spellings of one sound by one of them.
var sounds = strings.NewReplacer("ee", "i", "ea", "i", "eu", "e", "ei", "e", "ai", "e", "ay", "e", "au", "o",
	"ou", "u", "oo", "u", "th", "t", "sh", "ch")

// The words of remarks before and after a title.
var (
	fillers = textfold.WordSet("euh heu ben bah alors donc moi cest j aime adore adorais je dirais pense crois c est cest ca serait plutot " +
		"surtout aussi il y a um well so like guess id d i say would it s its probably maybe definitely peut etre")
	afterwords = textfold.WordSet("saison saisons season seasons surtout sur avec with on especially mainly mostly je i parce because en " +
		"les la the le film serie anime movie show de by pour for toute toutes tous all premiere premieres premier premiers first c est cest " +
		"ou bien obviously lol mdr")
)

// withoutRemarks returns the words of the longest known title in a name, without its article, if the words around it are
// remarks; otherwise none.
func (c *catalog) withoutRemarks(name []string) []string {
	first, end := c.within(name)
	return withoutArticle(name[first:end])
}

// within returns the range of a known title and its article in a name, or an empty range.
func (c *catalog) within(name []string) (first, end int) {
	for first := range name {
		if first > 0 && !fillers[name[first-1]] && !headWords[name[first-1]] {
			break
		}
		for n := len(name); n > first; n-- {
			if c.works[catalogKey(withoutArticle(name[first:n]))] != nil && (n == len(name) || afterwords[name[n]] || isSeason(name[n])) {
				return first, n
			}
		}
	}
	return 0, 0
}

// trim returns a name without the remarks around a known title.
func (c *catalog) trim(name string) string {
	tokens := titleTokens(name)
	words := make([]string, len(tokens))
	for i, t := range tokens {
		words[i] = t.folded
	}
	if first, end := c.within(words); end > first && (first > 0 || end < len(words)) {
		return name[tokens[first].start:tokens[end-1].end]
	}
	return name
}

// similar returns the works whose titles differ least from a spelling, by at most a fifth of its sounds.
func (c *catalog) similar(heard string) []int {
	limit := len(heard) / 5
	var works []int
	for _, s := range c.spelt {
		if limit == 0 || len(s.heard) > len(heard)+limit || len(heard) > len(s.heard)+limit {
			continue
		}
		distance := suggest.Distance([]byte(heard), []byte(s.heard), limit)
		if distance < limit {
			works, limit = nil, distance
		}
		if distance <= limit && !slices.Contains(works, s.work) {
			works = append(works, s.work)
		}
	}
	return works
}

// maxKnown is the longest title of the catalog in words.
const maxKnown = 12

// mark puts quotes around the known titles of an answer that have none, so that a comma or "and" does not split a title and
// the words around it do not become part of it. found is the number of titles.
// A title of one word is marked only with its article or if it is capitalized within a sentence.
func (c *catalog) mark(text string) (marked string, found int) {
	tokens := titleTokens(text)
	quoted := quotes().FindAllStringIndex(text, -1)
	var b strings.Builder
	at := 0
	for i := 0; i < len(tokens); i++ {
		n := c.longest(tokens[i:])
		inQuotes := func(q []int) bool { return q[0] < tokens[i].start && tokens[i].start < q[1] }
		if n == 0 || strings.HasSuffix(tokens[i].gap, "(") || slices.ContainsFunc(quoted, inQuotes) {
			continue
		}
		if i+n < len(tokens) && strings.Trim(tokens[i+n].gap, " ,") == "" && isVolume(tokens[i+n].folded) {
			continue // the numbers of volumes belong to the title
		}
		first, last := tokens[i], tokens[i+n-1]
		found++
		b.WriteString(text[at:first.start] + "«" + text[first.start:last.end] + "»")
		at, i = last.end, i+n-1
	}
	return b.String() + text[at:], found
}

// longest returns the number of words of the longest known title at the start of tokens.
func (c *catalog) longest(tokens []titleToken) int {
	longest, key := 0, ""
	skip := 0
	if len(tokens) > 1 && titleArticles[tokens[0].folded] && strings.Trim(tokens[1].gap, " '’") == "" {
		skip = 1
	}
	significant, capital := 0, false
	for i, t := range tokens[:min(len(tokens), maxKnown)] {
		if i > 0 && endsTitle(t.gap, tokens[i-1]) {
			break
		}
		if i < skip {
			continue
		}
		key += t.folded
		capital = capital || t.capital
		if !smallWords[t.folded] {
			significant++
		}
		if c.works[key] != nil && (significant > 1 || capital && (i > 0 || t.capitals > 1)) {
			longest = i + 1
		}
	}
	return longest
}

// sameKnown reports whether two lists of works have one in common.
func sameKnown(a, b []int) bool {
	return slices.ContainsFunc(a, func(work int) bool { return slices.Contains(b, work) })
}
