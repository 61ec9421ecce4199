package perturb

import (
	"hash/fnv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Edit returns the perturbed text of an answer, or nil if p does not change texts. It is
// deterministic, and its result is at most 16 times as long as the text, plus 2,000 bytes.
func (p Perturbation) Edit() func(text string) string {
	if p.At != Call {
		return nil
	}
	switch p.Do {
	case TextTruncated:
		return truncated
	case TextReformat:
		return reformatted
	case TextTranslated:
		return translated
	case TextPadded:
		return padded
	}
	return nil
}

// truncated returns the first half of a text in whole characters.
func truncated(text string) string {
	return sanitize.Prefix(text, len(text)/2)
}

// fence encloses code in Markdown.
const fence = "```"

// reformatted returns a text as another model might format it: JSON is indented and fenced; prose
// gets Windows line ends, blank lines and trailing blanks, typographic quotes and a bold first
// line. The words and their order do not change.
func reformatted(text string) string {
	if strings.TrimSpace(text) == "" {
		return text
	}
	if v := jsontext.Value(text); v.IsValid() {
		if shallow(text) {
			_ = v.Indent() // it is valid
		}
		return fence + "json\n" + string(v) + "\n" + fence + "\n"
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	bold := strings.TrimSpace(lines[0])
	if !strings.ContainsAny(bold, "*`#") {
		lines[0] = "**" + bold + "**"
	}
	for i, line := range lines {
		lines[i] = typographic.Replace(strings.TrimRight(line, " \t\r")) + "  "
	}
	return strings.Join(lines, "\r\n\r\n") + "\r\n"
}

// maxDepth limits the nesting of JSON that is indented, because indentation grows with the square
// of the depth.
const maxDepth = 10

func shallow(text string) bool {
	in := jsontext.NewDecoder(strings.NewReader(text))
	for in.PeekKind() != 0 {
		if _, err := in.ReadToken(); err != nil || in.StackDepth() > maxDepth {
			return false
		}
	}
	return true
}

var typographic = strings.NewReplacer(" \"", " “", "\" ", "” ", "'", "’", "...", "…")

// foreign are Greek words: a script that cannot be confused with that of the answer, and whose
// letters take two bytes.
var foreign = strings.Fields("και το ένα αλλά πως τώρα πάντα μια θάλασσα λόγος δρόμος φως νερό σπίτι μέρα νύχτα κόσμος χρόνος " +
	"καρδιά ουρανός γη άνεμος φωτιά δέντρο πουλί φίλος γράμμα όνομα πόλη παιδί ψωμί αλήθεια")

// translated replaces each word by a foreign one, equal words by the same one. Names with digits or
// underscores, punctuation and line breaks are kept, and for JSON the structure and the names of
// members.
func translated(text string) string {
	if v := jsontext.Value(text); strings.ContainsAny(text, "{[") && v.IsValid() {
		if done, ok := translatedJSON(text); ok {
			return done
		}
	}
	var b strings.Builder
	b.Grow(2 * len(text))
	for len(text) > 0 {
		n := strings.IndexFunc(text, inWord)
		if n < 0 {
			n = len(text)
		}
		b.WriteString(text[:n])
		text = text[n:]
		if n = strings.IndexFunc(text, func(r rune) bool { return !inWord(r) }); n < 0 {
			n = len(text)
		}
		if word := text[:n]; strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
			b.WriteString(word)
		} else if n > 0 {
			b.WriteString(foreignWord(word))
		}
		text = text[n:]
	}
	return b.String()
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func foreignWord(word string) string {
	h := fnv.New32a()
	h.Write([]byte(strings.ToLower(word)))
	other := foreign[h.Sum32()%uint32(len(foreign))]
	switch first, size := utf8.DecodeRuneInString(word); {
	case !unicode.IsUpper(first):
		return other
	case len(word) > size && word == strings.ToUpper(word):
		return strings.ToUpper(other)
	default:
		first, size = utf8.DecodeRuneInString(other)
		return string(unicode.ToUpper(first)) + other[size:]
	}
}

// translatedJSON translates the strings of a JSON value except names.
func translatedJSON(text string) (string, bool) {
	var b strings.Builder
	in, out := jsontext.NewDecoder(strings.NewReader(text)), jsontext.NewEncoder(&b)
	for in.PeekKind() != 0 {
		depth := in.StackDepth()
		kind, n := in.StackIndex(depth)
		token, err := in.ReadToken()
		if err != nil {
			return "", false
		}
		if name := kind == '{' && n%2 == 0; token.Kind() == '"' && !name {
			token = jsontext.String(translated(token.String()))
		}
		if err := out.WriteToken(token); err != nil {
			return "", false
		}
	}
	return strings.TrimSuffix(b.String(), "\n"), true
}

// before and after are the text that a talkative model adds to its answer.
const before = "Of course! That is an excellent question, and I am happy to help. Here is what I came up with:\n\n"

var after = "\n\n" + strings.Repeat("I hope that this is what you were looking for. There is a lot more to be said about the matter, "+
	"and I have left out many details on purpose. Please let me know whether I should go on, "+
	"explain a part of it, or put it in other words. ", 6)

// padded adds a greeting and a long closing to the text.
func padded(text string) string { return before + text + after }
