package reflect

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// digits reports whether a text consists of up to 18 digits.
func digits(text string) bool {
	return text != "" && len(text) <= 18 && strings.Trim(text, "0123456789") == ""
}

// grouped reports whether a text is a number to which a group of three digits may be added
// after a space.
func grouped(text string) bool {
	first, rest, more := strings.Cut(text, " ")
	return digits(first) && len(first) <= 3 && (!more || len(text) <= 15 && digits(strings.ReplaceAll(rest, " ", "")))
}

// parseNumber parses a number with its sign and unit: "3", "-3", "#42", "1,234", "12,5%",
// "45s", "€20".
func parseNumber(core string) (value, unit string, ok bool) {
	body := strings.TrimLeft(core, "+-#$€£≈~<>x×")
	end := 0
	for end < len(body) && numberPrefix(body[end:]) > 0 {
		end += numberPrefix(body[end:])
	}
	text := strings.TrimRight(body[:end], ".,")
	if text == "" || len(text) > 30 || strings.Count(text, ".") > 1 {
		return "", "", false
	}
	rest := body[len(text):]
	if utf8.RuneCountInString(rest) > 3 || strings.ContainsFunc(rest, func(c rune) bool { return !isUnitRune(c) }) {
		return "", "", false
	}
	return canonical(text), strings.ToLower(rest), true
}

// isUnitRune reports whether a character may be part of a unit: "ms", "%", "GB", "er".
func isUnitRune(c rune) bool { return unicode.IsLower(c) || strings.ContainsRune("%€$°KMGTB×", c) }

// numberPrefix returns the size of the first character of a text if it is part of a number,
// or 0.
func numberPrefix(text string) int {
	switch {
	case isDigit(text[0]), text[0] == '.', text[0] == ',':
		return 1
	case strings.HasPrefix(text, "\u00a0"):
		return 2
	case strings.HasPrefix(text, "\u202f"):
		return 3
	}
	return 0
}

var marks = strings.NewReplacer("\u00a0", "", "\u202f", "", ",", ".")

// canonical returns a number without thousands separators and with a full stop before its
// decimals. A mark before exactly three digits is a thousands separator.
func canonical(text string) string {
	text = marks.Replace(text)
	whole, rest, ok := strings.Cut(text, ".")
	for ok && len(rest) >= 3 && digits(rest[:3]) && (len(rest) == 3 || rest[3] == '.') {
		whole += rest[:3]
		_, rest, ok = strings.Cut(rest, ".")
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if ok {
		if rest = strings.TrimRight(rest, "0"); rest != "" {
			return whole + "." + rest
		}
	}
	return whole
}

// numeral returns the value of a number word. "un", "une" and "one" are not among them: they
// are articles and pronouns too often.
func numeral(text string) (string, bool) {
	value, ok := numerals[text]
	return value, ok
}

//nolint:misspell // half of the words are French
var numerals = map[string]string{
	"zero": "0", "two": "2", "deux": "2", "three": "3", "trois": "3", "four": "4", "quatre": "4",
	"five": "5", "cinq": "5", "six": "6", "seven": "7", "sept": "7", "eight": "8", "huit": "8", "nine": "9", "neuf": "9",
	"ten": "10", "dix": "10", "eleven": "11", "onze": "11", "twelve": "12", "douze": "12", "thirteen": "13", "treize": "13",
	"fourteen": "14", "quatorze": "14", "fifteen": "15", "quinze": "15", "sixteen": "16", "seize": "16",
	"seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20", "vingt": "20", "thirty": "30", "trente": "30",
	"forty": "40", "quarante": "40", "fifty": "50", "cinquante": "50", "hundred": "100", "cent": "100",
}

// small reports whether a number is likely to be in any text.
func small(value string) bool { return len(value) == 1 }

// rounded returns the whole numbers next to a number with decimals.
func rounded(value string) []string {
	if !strings.Contains(value, ".") {
		return nil
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil { // such as "1,2,3"
		return nil
	}
	return []string{whole(math.Floor(x)), whole(math.Ceil(x))}
}

func whole(x float64) string { return strconv.FormatFloat(x, 'f', 0, 64) }

// countText returns a count of two or more as text.
func countText(n int) string {
	if n < 2 {
		return ""
	}
	return strconv.Itoa(n)
}
