package session

import (
	_ "embed"
	"math/bits"
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
	titles [][]string               // of each work
	works  map[string][]int         // by the title, see catalogKey
	spelt  [maxHeard + 1][]spelling // by the length of heard
	bones  map[string][]int         // by the consonants of a title, see consonantsOf
}

// maxHeard is the length in bytes of the longest spelling that is compared.
const maxHeard = 80

// spelling is a title of the catalog as it sounds, in one word.
type spelling struct {
	heard   string
	letters uint32 // see lettersIn
	work    int
}

// lettersIn returns a set of bits for the letters in a word, which bounds the distance of two words from below.
func lettersIn(word string) (set uint32) {
	for i := range len(word) {
		set |= 1 << (word[i] % 32)
	}
	return set
}

var knownTitles = sync.OnceValue(func() *catalog {
	c := &catalog{works: map[string][]int{}, bones: map[string][]int{}}
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
			if heard := heardAs(words); len(heard) <= maxHeard {
				c.spelt[len(heard)] = append(c.spelt[len(heard)], spelling{heard, lettersIn(heard), work})
				if bones := consonantsOf(heard); !slices.Contains(c.bones[bones], work) {
					c.bones[bones] = append(c.bones[bones], work)
				}
			}
		}
	}
	return c
})

// catalogKey returns the words of a title in one, with numbers and forms of address in one spelling and without words such
// as "part".
func catalogKey(words []string) string {
	var b strings.Builder
	for i, word := range words {
		b.WriteString(canonical(word, phonetic(word), i))
	}
	return b.String()
}

// canonical returns the common spelling of a word of a title, by its phonetic form and its place; that of "part" is empty.
func canonical(word, heard string, place int) string {
	if short, ok := addresses[word]; ok {
		return short
	}
	if n, ok := numerals[heard]; ok {
		return n
	}
	switch {
	case place == 0:
		return word
	case partWords[word]:
		return ""
	case volumeNumerals[word] != "":
		return volumeNumerals[word]
	}
	return word
}

var (
	partWords = textfold.WordSet("part partie volume vol chapitre chapter")
	addresses = map[string]string{
		"docteur": "dr", "doctor": "dr", "mister": "mr", "monsieur": "mr", "saint": "st", "missus": "mrs", "madame": "mme",
	}
)

// exactly returns the works with a title.
func (c *catalog) exactly(name string) []int { return c.works[catalogKey(titleWords(name))] }

// officially returns the works with a title as a model writes it: the whole, or else its part before a subtitle.
func (c *catalog) officially(title string) []int {
	if works := c.exactly(title); works != nil {
		return works
	}
	main := titleWords(subtitleMarks().Split(title, 2)[0])
	if last := len(main) - 1; last > 0 && (main[last] == "ou" || main[last] == "or") {
		main = main[:last]
	}
	return c.works[catalogKey(main)]
}

// inSeries reports whether a title is that of the series that one of the works belongs to: "Mission: Impossible" or, for
// "Shrek 2", "Shrek".
func (c *catalog) inSeries(title string, works []int) bool {
	id := catalogKey(titleWords(title))
	for _, work := range works {
		for _, name := range c.titles[work] {
			if stem, volumes := withoutVolumes(titleWords(name)); volumes != nil && catalogKey(stem) == id {
				return true
			}
			for _, at := range subtitleMarks().FindAllStringIndex(name, -1) {
				if catalogKey(titleWords(name[:at[0]])) == id {
					return true
				}
			}
		}
	}
	return false
}

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
	for _, list := range [][]string{withoutTail(bare), beforeRemark(bare)} {
		if works := c.sounding(heardAs(list)); works != nil {
			return works
		}
	}
	return nil
}

// beforeRemark returns the words before the first one, after the start, that may begin a remark.
func beforeRemark(name []string) []string {
	for i := 1; i < len(name); i++ {
		if afterwords[name[i]] || name[i] == "d" || name[i] == "du" {
			return name[:i]
		}
	}
	return nil
}

// fewestConsonants is the minimum number of consonants that identify a title.
const fewestConsonants = 4

// sounding returns the works whose titles sound most like a spelling.
func (c *catalog) sounding(heard string) []int {
	if works := c.similar(heard); works != nil {
		return works
	}
	bones := consonantsOf(heard)
	if works := c.bones[bones]; len(works) == 1 && len(bones) >= fewestConsonants {
		return works
	}
	return nil
}

// consonantsOf returns the consonants and digits of a title as it sounds, with voiced ones as voiceless ones, and without
// the "s" of a plural.
func consonantsOf(heard string) string {
	b := make([]byte, 0, len(heard))
	for i := range len(heard) {
		r := heard[i]
		if at := strings.IndexByte("bdgvzjaeiouyhw", r); at >= 6 {
			continue
		} else if at >= 0 {
			r = "ptkfsc"[at]
		}
		if n := len(b); n == 0 || b[n-1] != r {
			b = append(b, r)
		}
	}
	return strings.TrimSuffix(string(b), "s")
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
		if short := addresses[word]; short != "" {
			word = short
		}
		if n, ok := numerals[phonetic(word)]; ok {
			word = n
		}
		b.WriteString(phonetic(arabic(word)))
	}
	return sounds.Replace(b.String())
}

// sounds replaces spellings of one sound by one of them.
var sounds = strings.NewReplacer("ouil", "ui", "gn", "n", "skh", "ch", "eau", "o", "ee", "i", "ea", "i", "eu", "e", "ei",
	"e", "ai", "e", "ay", "e", "au", "o",
	"ou", "u", "oo", "u", "th", "t", "sh", "ch", "wh", "w", "rh", "r", "gh", "g", "kh", "ch", "ss", "s", "tt", "t", "nn", "n",
	"ll", "l", "mm", "m", "rr", "r", "pp", "p")

// The words of remarks before and after a title.
var (
	fillers = textfold.WordSet("euh heu ben bah alors donc moi cest j aime adore adorais je dirais pense crois c est cest ca " +
		"serait plutot " +
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
	if limit == 0 || len(heard) > maxHeard {
		return nil
	}
	var works []int
	letters := lettersIn(heard)
	for n := len(heard) - limit; n <= min(len(heard)+limit, maxHeard); n++ {
		for _, s := range c.spelt[n] {
			if max(n-len(heard), len(heard)-n) > limit || bits.OnesCount32(s.letters^letters) > 2*limit {
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
	}
	return works
}

// sameKnown reports whether two lists of works have one in common.
func sameKnown(a, b []int) bool {
	return slices.ContainsFunc(a, func(work int) bool { return slices.Contains(b, work) })
}
