package reflect

import "strings"

// The bounds of quotations that are looked for: each costs a search in the
// observation.
const (
	maxQuotes = 16
	minQuote  = 4 // bytes; what is shorter is found by chance
	maxQuote  = 400
)

// closing are the marks that end a quotation, by those that begin it.
var closing = map[rune]string{'"': `"`, '“': "”", '«': "»", '`': "`"}

// citeQuotes takes what a reflection quotes, and the observation says word for
// word, for a fact, where nothing in it is one already.
func citeQuotes(observation, reflection string, c *citations) {
	quotes := quoted(reflection)
	if len(quotes) == 0 {
		return
	}
	seen := flat(observation)
	for _, q := range quotes {
		if c.within(q.start, q.end) {
			continue
		}
		span := token{start: q.start, end: q.end}
		if text := flat(reflection[q.start:q.end]); len(text) >= minQuote && strings.Contains(seen, text) {
			c.add("quote "+text, span, span, full)
		}
	}
}

// flat is a text without case and line breaks.
func flat(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// quoted finds the first quotations of a text, without their marks.
func quoted(text string) (found []token) {
	for at := 0; at < len(text) && len(found) < maxQuotes; {
		i := strings.IndexAny(text[at:], "\"“«`")
		if i < 0 {
			return found
		}
		begin := at + i
		mark := []rune(text[begin:min(begin+4, len(text))])[0]
		start := begin + len(string(mark))
		length := strings.Index(text[start:min(start+maxQuote, len(text))], closing[mark])
		if length < 0 {
			at = start
			continue
		}
		found = append(found, token{start: start, end: start + length})
		at = start + length + len(closing[mark])
	}
	return found
}
