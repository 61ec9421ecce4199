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
	whole  map[string][]int         // by the title with its article
	spelt  [maxHeard + 1][]spelling // by the length of heard
	sounds [][]string               // of each work: heard
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
	c := &catalog{works: map[string][]int{}, whole: map[string][]int{}, bones: map[string][]int{}}
	for line := range strings.Lines(catalogText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		work := len(c.titles)
		names := strings.Split(strings.TrimSpace(line), " = ")
		c.titles, c.sounds = append(c.titles, names), append(c.sounds, nil)
		for _, name := range names {
			words := titleWords(name)
			whole := catalogKey(wholeTitle(name))
			joined := strings.ReplaceAll(textfold.Join(inBrackets().ReplaceAllString(name, "")), " ", "")
			c.whole[whole] = append(c.whole[whole], work)
			for _, id := range []string{catalogKey(words), whole, strings.Join(words, ""), joined} { // lecinquiemeelement
				if !slices.Contains(c.works[id], work) {
					c.works[id] = append(c.works[id], work)
				}
			}
			if heard := heardAs(words); len(heard) <= maxHeard {
				c.spelt[len(heard)] = append(c.spelt[len(heard)], spelling{heard, lettersIn(heard), work})
				c.sounds[work] = append(c.sounds[work], heard)
				if bones := consonantsOf(heard); !slices.Contains(c.bones[bones], work) {
					c.bones[bones] = append(c.bones[bones], work)
				}
			}
		}
	}
	return c
})

// catalogKey returns the words of a title in one, with numbers and forms of address in one spelling and without words such
// as "part" and "and".
func catalogKey(words []string) string {
	var b strings.Builder
	if len(words) == 1 {
		return canonical(words[0], "", 0) // "Nine" is not "9"
	}
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
	if n, ok := numerals()[heard]; ok {
		return n
	}
	switch {
	case place == 0:
		return word
	case partWords()[word]:
		return ""
	case volumeNumerals[word] != "":
		return volumeNumerals[word]
	}
	return word
}

var (
	partWords = titleList("partWords")
	addresses = map[string]string{
		"docteur": "dr", "doctor": "dr", "mister": "mr", "monsieur": "mr", "saint": "st", "missus": "mrs", "madame": "mme",
	}
)

// exactly returns the works with a title, or else those with this title and another article.
func (c *catalog) exactly(name string) []int {
	if works := c.whole[catalogKey(wholeTitle(name))]; works != nil {
		return works
	}
	return c.works[catalogKey(titleWords(name))]
}

// wholeTitle returns the words of a title with its article, and without the remark in parentheses at its end.
func wholeTitle(name string) []string {
	if before, _, ok := strings.Cut(name, "("); ok && textfold.Join(before) != "" {
		name = before
	}
	return withNumbers(textfold.Fold(name))
}

// officially returns the works with a title as a model writes it: the whole, or else one of its parts beside a subtitle mark.
func (c *catalog) officially(title string) []int {
	if works := c.exactly(title); works != nil {
		return works
	}
	var works []int
	for i, part := range subtitleMarks().Split(title, -1) {
		words := wholeTitle(part)
		if last := len(words) - 1; last > 0 && i == 0 && (words[last] == "ou" || words[last] == "or") {
			words = words[:last]
		}
		works = append(works, c.works[catalogKey(withoutArticle(words))]...)
	}
	return works
}

// inSeries reports whether a title is that of a series, and one of the works is a part of it.
func (c *catalog) inSeries(title string, works []int) bool {
	series := c.series(title)
	return series != "" && slices.ContainsFunc(works, func(work int) bool {
		return slices.ContainsFunc(c.titles[work], func(name string) bool {
			return strings.HasPrefix(catalogKey(titleWords(name)), series)
		})
	})
}

// beginsSeries reports whether a name is that of a series, and a title begins with it.
func (c *catalog) beginsSeries(name, title string) bool {
	series := c.series(name)
	return series != "" && strings.HasPrefix(catalogKey(titleWords(title)), series)
}

// series returns the key of a name of several works, or "". Its first part is another work: "Star Wars", "Star Wars 1".
func (c *catalog) series(name string) string {
	bare, _ := withoutHead(titleWords(name))
	key := catalogKey(bare)
	if first := c.works[key+"1"]; first == nil || sameKnown(first, c.works[key]) {
		return ""
	}
	return key
}

// of returns the works that a candidate may mean by a name: those with this title, or else with this title
// and a remark, or else with the most similar one.
func (c *catalog) of(name string) []int {
	if works := c.named(name); works != nil {
		return works
	}
	for _, heard := range soundsOf(name) {
		if works := c.sounding(heard); works != nil {
			return works
		}
	}
	return nil
}

// ofAny returns of(name), or nil if none of the works can be among them. It is faster, as most names sound unlike these works.
func (c *catalog) ofAny(name string, works []int) []int {
	known := c.named(name)
	if known == nil && slices.ContainsFunc(soundsOf(name), func(heard string) bool { return c.maySound(heard, works) }) {
		known = c.of(name)
	}
	return known
}

// maySound reports whether sounding can return one of the works.
func (c *catalog) maySound(heard string, works []int) bool {
	limit := len(heard) / 5
	for _, work := range works {
		for _, title := range c.sounds[work] {
			if limit > 0 && suggest.Distance([]byte(heard), []byte(title), limit) <= limit || consonantsOf(heard) == consonantsOf(title) {
				return true
			}
		}
	}
	return false
}

// isOneTitle reports whether a whole answer is one known title, perhaps misspelled, or a part of one: "lord of the ring".
func (c *catalog) isOneTitle(answer string) bool {
	if strings.ContainsAny(answer, "\n,;(") || firm().MatchString(answer) || textfold.Count(answer) > maxUnmarked {
		return false
	}
	words := titleWords(answer)
	if c.exactly(answer) != nil {
		return true
	}
	return len(words) > 1 && (c.similar(heardAs(words)) != nil || c.partly(words) != nil)
}

// maxUnmarked is the number of words of the longest answer that is compared with titles as a whole.
const maxUnmarked = 9

// partly returns the work whose title alone has these words in a row.
func (c *catalog) partly(words []string) []int {
	if len(keyOf(words)) >= shortWords && letterCount(words) >= shortLetters {
		if works := partsOfTitles()[catalogKey(words)]; len(works) == 1 {
			return works
		}
	}
	return nil
}

// named returns the works with a title, or else with this title and a remark.
func (c *catalog) named(name string) []int {
	base := titleWords(name)
	bare, _ := withoutHead(base)
	stem, _ := withoutVolumes(bare)
	for _, list := range [][]string{base, withoutTail(bare), stem, c.withoutRemarks(base)} {
		if works := c.works[catalogKey(list)]; works != nil {
			return works
		}
	}
	return c.partly(withoutTail(bare))
}

// soundsOf returns how a name sounds without its tail and without a remark.
func soundsOf(name string) []string {
	bare, _ := withoutHead(titleWords(name))
	return []string{heardAs(withoutTail(bare)), heardAs(beforeRemark(bare))}
}

// beforeRemark returns the words before the first one, after the start, that may begin a remark.
func beforeRemark(name []string) []string {
	for i := 1; i < len(name); i++ {
		if remarkAt(name, i) {
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
				id, significant, letters := "", 0, 0
				for i, word := range words[first:] {
					id += canonical(word, phonetic(word), i)
					letters += len(word)
					if !smallWords()[word] {
						significant++
					}
					if significant >= shortWords && letters >= shortLetters && !slices.Contains(parts[id], work) {
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
		if n, ok := numerals()[phonetic(word)]; ok {
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
	fillers    = titleList("fillers")
	afterwords = titleList("afterwords")
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
		if first > 0 && !fillers()[name[first-1]] && !headWords()[name[first-1]] {
			break
		}
		for n := len(name); n > first; n-- {
			if c.works[catalogKey(withoutArticle(name[first:n]))] != nil && remarkAt(name, n) {
				return first, n
			}
		}
	}
	return 0, 0
}

// remarkAt reports whether a title may end before a word, as a remark follows, such as the name of an actor.
func remarkAt(words []string, n int) bool {
	return n == len(words) || afterwords()[words[n]] || isSeason(words[n]) || namesPerson(words[n:])
}

// namesPerson reports whether words begin with the name of a well-known person.
func namesPerson(words []string) bool {
	return people()[words[0]] || len(words) > 1 && people()[words[1]]
}

// people are the last names of actors and directors, and the studios, that candidates name beside a title.
var people = titleList("people")

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
