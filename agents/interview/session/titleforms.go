package session

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
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
var smallWords = titleList("smallWords")

// The words before and after a title that describe the work.
var (
	headWords       = titleList("headWords")
	headNouns       = titleList("headNouns")
	pluralNouns     = titleList("pluralNouns")
	linkWords       = titleList("linkWords")
	tailWords       = titleList("tailWords")
	countedNouns    = titleList("countedNouns")
	countrySuffixes = titleList("countrySuffixes")
	joiningWords    = titleList("joiningWords")
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
		lists = append(lists, withoutTail(list))
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
	for n < len(title)-1 && (headWords()[title[n]] || isNumber(title[n]) && n > 0) {
		noun, many = noun || headNouns()[title[n]], many || pluralNouns()[title[n]]
		linked = linked || noun && linkWords()[title[n]]
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
		case tailWords()[last]:
			n--
		case (isNumber(last) || joiningWords()[last]) && n > 2 &&
			slices.ContainsFunc(title[1:n-1], func(w string) bool { return countedNouns()[w] }):
			n--
		case isSeason(last), isYear(last), countrySuffixes()[last] && !smallWords()[title[n-2]]:
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

// subtitleMarks matches what separates the parts of a title.
var subtitleMarks = lazyregexp.New(`\s?:\s|\s[–—-]\s`)

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
	for n > 1 && (isVolume(title[n-1]) || joiningWords()[title[n-1]] && n < len(title)) {
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
	for i := range len(word) {
		if word[i] < '0' || word[i] > '9' {
			return false
		}
	}
	return word != ""
}

// The minimum for a part of a title to identify it.
const (
	shortWords   = 2
	shortLetters = 8
)

func letterCount(list []string) int { return len(strings.Join(list, "")) }

// keyOf returns the significant words of a title in phonetic form, or all if none is
// significant.
func keyOf(title []string) []string {
	var k titleKey
	for _, word := range title {
		heard := phonetic(word)
		k.add(heard, numbered(heard), smallWords()[word])
	}
	return k.words()
}

// titleKey collects the key of a title word by word, see keyOf.
type titleKey struct{ significant, all keyWords }

// keyWords are words as they sound, and with the numbers that they spell: a number that stands alone remains a word.
type keyWords struct{ heard, numbered []string }

func (w *keyWords) add(heard, number string) {
	w.heard, w.numbered = append(w.heard, heard), append(w.numbered, number)
}

func (k *titleKey) add(heard, number string, small bool) {
	k.all.add(heard, number)
	if !small {
		k.significant.add(heard, number)
	}
}

// reset removes all words, and keeps the memory.
func (k *titleKey) reset() {
	for _, w := range []*keyWords{&k.significant, &k.all} {
		w.heard, w.numbered = w.heard[:0], w.numbered[:0]
	}
}

// words returns the key, which is valid until the next reset.
func (k *titleKey) words() []string {
	w := k.significant
	if len(w.heard) == 0 {
		w = k.all
	}
	if len(w.heard) == 1 {
		return w.heard
	}
	return w.numbered
}

// numbered returns the number that a word spells, by its phonetic form, or the word.
func numbered(heard string) string {
	if n, ok := numerals()[heard]; ok {
		return n
	}
	return heard
}

// numerals are the numbers that titles spell out, in phonetic form.
var numerals = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for word, n := range numberWords {
		if word != "cent" && word != "cents" && word != "mille" && word != "hundred" && word != "thousand" && word != "zero" {
			all[phonetic(word)] = strconv.Itoa(n)
		}
	}
	for i, words := range []string{
		"1er 1ere premier premiere first", "2e 2eme 2nd deuxieme second seconde", "3e 3eme 3rd troisieme third",
		"4e 4eme 4th quatrieme fourth", "5e 5eme 5th cinquieme fifth", "6e 6eme 6th sixieme sixth", "7e 7eme 7th septieme seventh",
		"8e 8eme 8th huitieme eighth", "9e 9eme 9th neuvieme ninth",
	} {
		for word := range strings.FieldsSeq(words) {
			all[phonetic(word)] = strconv.Itoa(i + 1)
		}
	}
	return all
})

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
		if n, ok := numerals()[phonetic(word)]; ok {
			first = n
		}
		all.WriteString(first)
		if !smallWords()[word] || i > 0 && len(title) == 2 {
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

// numberWords are the words of numbers that several words spell.
var numberWords = map[string]int{
	"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
	"nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
	"deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "sept": 7, "huit": 8, "neuf": 9, "dix": 10, "onze": 11, "douze": 12, "treize": 13,
	"quatorze": 14, "quinze": 15, "seize": 16, "vingt": 20, "vingts": 20, "trente": 30,
	"quarante": 40, "cinquante": 50, //nolint:misspell // French
	"soixante": 60, "hundred": 100, "cent": 100, "cents": 100, "thousand": 1000, "mille": 1000,
}

// withNumbers returns words with the numbers that several of them spell as digits: "cent vingt", "nineteen eighty-eight".
func withNumbers(words []string) []string {
	var out []string
	for i := 0; i < len(words); {
		n, length := numberAt(words[i:])
		if length > 1 {
			out = append(out, strconv.Itoa(n))
		} else if length = 1; i > 0 && partNouns()[words[i-1]] && (words[i] == "un" || words[i] == "i") {
			out = append(out, "1")
		} else {
			out = append(out, words[i])
		}
		i += length
	}
	return out
}

// numberAt returns the number that the first words spell, and how many words these are.
func numberAt(words []string) (number, length int) {
	group, last := 0, 0 // the number below a thousand, and the value of the word before
	for i, word := range words {
		v, ok := numberWords[word]
		if (word == "un" || word == "une") && last >= 20 {
			v, ok = 1, true
		}
		if (word == "et" || word == "and") && last >= 20 {
			continue
		}
		switch {
		case !ok:
			return number + group, length
		case v == 1000 && number == 0:
			number, group = v*max(1, group), 0
		case v == 100 && group < 100 && (i == 0 || group > 0):
			group = v * max(1, group)
		case v == 20 && last == 4:
			group += 76 // quatre-vingts
		case v < 100 && (i == 0 || last >= 100), v < 10 && last >= 10 && last%10 == 0, v < 20 && last == 60, v < 20 && group == 80:
			group += v
		case 20 <= v && v < 100 && 10 < group && group < 20:
			group = 100*group + v // a year
		default:
			return number + group, length
		}
		last, length = v, i+1
	}
	return number + group, length
}
