package session

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// similarForm is one way to write a title, which is compared by spelling.
type similarForm struct {
	work int
	key  []string // the significant words, see keyOf
	// volumes are the numbers after the title ("Toy Story 1 and 2"). Another number in a text
	// names another work.
	volumes []string
	// initials are the initials of the title. short are the initials that the candidate wrote
	// instead of a title.
	initials []string
	short    string
}

// smallWords are the words that people omit from titles or get wrong.
var smallWords = textfold.WordSet("le la les l un une des de du d et the a an of and und el los las del y o s au aux en in")

// The words before and after a title that describe the work.
var (
	headWords = textfold.WordSet("tv tele tous toutes tout all les des le la the film films movie movies serie series show shows saga " +
		"sagas trilogie trilogy franchise univers anime animes manga mangas premiers premieres derniers vieux old first n importe " +
		"quel quelle " +
		"de du d of by from avec with")
	headNouns = textfold.WordSet("film films movie movies serie series show shows saga sagas trilogie trilogy franchise univers anime " +
		"animes manga mangas")
	pluralNouns = textfold.WordSet("tous toutes all films movies series shows sagas animes mangas univers importe")
	linkWords   = textfold.WordSet("de du d des of by from avec with")
	tailWords   = textfold.WordSet("livre saison saisons season seasons s volume volumes vol tome tomes partie parties part parts episode " +
		"episodes ep chapitre chapter opus numero no serie series film films movie show integrale trilogie trilogy saga vf vo vostfr " +
		"netflix hbo premiere deuxieme troisieme first second third 1ere 1re 2e 2eme 3e 3eme 1st 2nd 3rd la le the toute tout")
	countedNouns = textfold.WordSet("livre series saison saisons season seasons volume vol tome partie part episode " +
		"ep chapitre chapter opus")
	countrySuffixes = textfold.WordSet("us uk usa")
	joiningWords    = textfold.WordSet("et and a to")
)

// addNear adds the other ways to write a title.
func (x *Titles) addNear(work int, name string) {
	base := titleWords(name)
	if len(base) == 0 || len(base) > 2*maxTitleWords {
		return
	}
	lists := [][]string{base}
	bare, several := withoutHead(base)
	x.vague[work] = several
	lists = append(lists, bare)
	for _, list := range [][]string{base, bare} {
		lists = append(lists, withoutTail(list), withoutSubtitle(list))
	}
	if main, sub, ok := strings.Cut(name, ":"); ok {
		lists = append(lists, titleWords(main), titleWords(sub))
	}
	seen := map[string]bool{}
	for _, list := range lists {
		stem, volumes := withoutVolumes(list)
		form := similarForm{work: work, key: keyOf(stem), volumes: volumes, initials: initialsOf(stem)}
		if id := strings.Join(form.key, " "); len(form.key) > 0 && !seen[id] {
			seen[id] = true
			x.near = append(x.near, form)
		}
	}
	if short, ok := asInitials(name); ok {
		x.near = append(x.near, similarForm{work: work, short: short})
	}
}

// withoutHead returns a title without words such as "the saga". several is true if the rest
// is a person or a theme of several works.
func withoutHead(title []string) (rest []string, several bool) {
	n, noun, many, linked := 0, false, false, false
	for n < len(title)-1 && (headWords[title[n]] || isNumber(title[n]) && n > 0) {
		noun, many = noun || headNouns[title[n]], many || pluralNouns[title[n]]
		linked = linked || noun && linkWords[title[n]]
		n++
	}
	if !noun && !many {
		return title, false
	}
	return title[n:], many && (linked || !noun)
}

// withoutTail returns a title without words such as "season 1" and "the series".
func withoutTail(title []string) []string {
	n := len(title)
	for n > 1 {
		last := title[n-1]
		switch {
		case tailWords[last]:
			n--
		case (isNumber(last) || joiningWords[last]) && n > 2 && slices.ContainsFunc(title[1:n-1], func(w string) bool { return countedNouns[w] }):
			n--
		case isSeason(last), isYear(last), countrySuffixes[last] && !smallWords[title[n-2]]:
			n--
		default:
			return title[:n]
		}
	}
	return title[:n]
}

// isYear reports whether a word is a year in which a film may have appeared.
func isYear(word string) bool {
	return len(word) == 4 && isNumber(word) && "1895" <= word && word <= "2035"
}

// yearIn returns the last year in a title with other words, or "".
func yearIn(name string) string {
	words := textfold.Fold(name)
	for i := len(words) - 1; i > 0; i-- {
		if isYear(words[i]) {
			return words[i]
		}
	}
	return ""
}

// countryIn returns the country after a title, or "".
func countryIn(name string) string {
	words := textfold.Fold(name)
	if last := len(words) - 1; last > 0 && countrySuffixes[words[last]] {
		return words[last][:2]
	}
	return ""
}

// subtitleMarks matches what separates the parts of a title.
var subtitleMarks = compiled(`\s?:\s|\s[–—-]\s`)

// isSeason reports whether a word is like "s01", "s2e3" or "saison2".
func isSeason(word string) bool {
	rest, ok := strings.CutPrefix(word, "saison")
	if !ok {
		rest, ok = strings.CutPrefix(word, "s")
	}
	return ok && rest != "" && rest[0] >= '0' && rest[0] <= '9'
}

// withoutVolumes returns a title without the numbers after it.
func withoutVolumes(title []string) (stem, volumes []string) {
	n := len(title)
	for n > 1 && (isVolume(title[n-1]) || joiningWords[title[n-1]] && n < len(title)) {
		n--
	}
	for _, word := range title[n:] {
		if isVolume(word) {
			volumes = append(volumes, arabic(word))
		}
	}
	if len(volumes) == 0 {
		return title, nil
	}
	return title[:n], volumes
}

// volumeNumerals are the Roman numerals that are not words of a language.
var volumeNumerals = map[string]string{
	"ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8", "ix": "9", "x": "10",
}

func arabic(word string) string {
	if n, ok := volumeNumerals[word]; ok {
		return n
	}
	return strings.TrimLeft(word, "0")
}

// isVolume reports whether a word is a number up to ten: "1917" and "District 13" are titles.
func isVolume(word string) bool {
	return volumeNumerals[word] != "" || word == "10" || isNumber(word) && len(strings.TrimLeft(word, "0")) == 1
}

func isNumber(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool { return r < '0' || r > '9' })
}

// The minimum for the start of a title to identify it: significant words, letters, and, if no word
// marks the start of a subtitle, its share of the letters.
const (
	shortWords   = 2
	shortLetters = 8
	shortShare   = 0.55
)

// withoutSubtitle returns the start of a title before its subtitle, such as "Harry Potter" for
// "Harry Potter and the Goblet of Fire", or nil.
func withoutSubtitle(title []string) []string {
	all := letterCount(title)
	begins := textfold.WordSet("et and the le la les l un une")
	for n := 2; n < len(title); n++ {
		head := keyOf(title[:n])
		if len(head) < shortWords || letterCount(title[:n]) < shortLetters || smallWords[title[n-1]] {
			continue
		}
		if begins[title[n]] || float64(letterCount(title[:n])) >= shortShare*float64(all) && len(keyOf(title)) > len(head)+1 {
			return title[:n]
		}
	}
	return nil
}

// subtitleBegins are the words that begin a subtitle after the name of a series of works.
var subtitleBegins = textfold.WordSet("et and the le la les l un une a au episode chapitre chapter part partie or ou")

// beforeSubtitle returns the start of a title before the first word that may begin its subtitle, or nil.
func beforeSubtitle(title []string) []string {
	for n := 2; n < len(title); n++ {
		if subtitleBegins[title[n]] && !smallWords[title[n-1]] && len(keyOf(title[:n])) >= shortWords {
			return title[:n]
		}
	}
	return nil
}

func letterCount(list []string) int { return len(strings.Join(list, "")) }

// keyOf returns the significant words of a title in phonetic form, or all if none is
// significant.
func keyOf(title []string) []string {
	heard := make([]string, len(title))
	for i, word := range title {
		heard[i] = phonetic(word)
	}
	return keyFrom(title, heard)
}

// keyFrom is keyOf for words with known phonetic forms.
func keyFrom(title, heard []string) []string {
	key := make([]string, 0, len(title))
	for i, word := range title {
		if !smallWords[word] {
			key = append(key, heard[i])
		}
	}
	if len(key) == 0 {
		key = append(key, heard...)
	}
	if len(key) > 1 {
		for i, word := range key {
			if n, ok := numerals[word]; ok {
				key[i] = n
			}
		}
	}
	return key
}

// numerals are the numbers that titles spell out, in phonetic form.
var numerals = map[string]string{
	"one": "1", "two": "2", "four": "4", "five": "5", "six": "6", "nine": "9", "ten": "10", "sept": "7", "huit": "8", "neuf": "9",
	phonetic("three"): "3", phonetic("seven"): "7", phonetic("eight"): "8",
	phonetic("eleven"): "11", phonetic("twelve"): "12", phonetic("thirteen"): "13",
	"1er": "1", "1ere": "1", "2e": "2", "2eme": "2", "3e": "3", "3eme": "3", "4e": "4", "4eme": "4", "5e": "5", "5eme": "5", "6e": "6",
	"6eme": "6", "7e": "7", "7eme": "7", phonetic("troisieme"): "3", phonetic("quatrieme"): "4", phonetic("cinquieme"): "5",
	phonetic("sixieme"): "6", phonetic("septieme"): "7", phonetic("third"): "3", phonetic("fourth"): "4", phonetic("fifth"): "5",
	phonetic("sixth"): "6", phonetic("seventh"): "7",
	"deux": "2", phonetic("trois"): "3", phonetic("quatre"): "4", phonetic("cinq"): "5", "onze": "11", phonetic("douze"): "12",
}

var phoneticSpelling = strings.NewReplacer("ph", "f", "qu", "k", "q", "k", "ch", "kh", "ce", "se", "ci", "si", "cy", "si",
	"ck", "k", "c", "k", "y", "i")

// phonetic returns the phonetic form of a word: words of three letters and more lose the
// differences between "ph" and "f", "y" and "i", "c" and "k", and longer ones doubled letters.
func phonetic(word string) string {
	if len(word) < 3 {
		return word
	}
	word = phoneticSpelling.Replace(word)
	if len(word) < 5 {
		return word
	}
	var b strings.Builder
	var last rune
	for _, r := range word {
		if r != last || r >= '0' && r <= '9' {
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

// initialsOf returns the initials of all words of a title, and of the significant ones.
func initialsOf(title []string) []string {
	var all, counting strings.Builder
	for i, word := range title {
		first := word[:1]
		if n, ok := numerals[phonetic(word)]; ok {
			first = n
		}
		all.WriteString(first)
		if !smallWords[word] || i > 0 && len(title) == 2 {
			counting.WriteString(first)
		}
	}
	whole := slices.DeleteFunc(slices.Clone(title), func(word string) bool { return word == "s" || word == "t" })
	if len(whole) < len(title) && len(whole) > 0 {
		return append(initialsOf(whole), all.String(), counting.String()) // "It's"
	}
	out := []string{all.String(), counting.String()}
	return slices.DeleteFunc(out, func(s string) bool { return len(s) < 2 })
}

// asInitials reports whether a title may be initials: one word of two to six letters with two
// capitals or a digit, or of up to five small letters.
func asInitials(name string) (string, bool) {
	list := textfold.Fold(name)
	if len(list) != 1 || len(list[0]) < 2 || len(list[0]) > 6 || isNumber(list[0]) {
		return "", false
	}
	upper := capitalsIn(name)
	digits := strings.ContainsAny(list[0], "0123456789")
	return list[0], upper > 1 || digits || upper == 0 && len(list[0]) <= 5
}
