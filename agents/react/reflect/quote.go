package reflect

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// The limits of quotations; each of them costs a search in the observation.
const (
	maxQuotes = 16
	minQuote  = 4 // bytes; shorter ones match by chance
	maxQuote  = 400
)

// closing are the closing quotation marks by the opening ones.
var closing = map[rune]string{'"': `"`, '“': "”", '«': "»", '`': "`"}

const opening = "\"“«`"

// citeQuotes adds the quotations of a reflection that are in the observation word for word,
// unless they contain another fact.
func citeQuotes(observation, reflection string, c *citations) {
	quotes := quotations(reflection)
	if len(quotes) == 0 {
		return
	}
	seen := " " + textfold.Join(observation) + " "
	for _, q := range quotes {
		text := textfold.Join(reflection[q.start:q.end])
		if len(text) >= minQuote && !c.within(q.start, q.end) && strings.Contains(seen, " "+text+" ") {
			c.add("quote "+text, q, q, full)
		}
	}
}

// quotations returns the first quotations of a text, without their marks.
func quotations(text string) (found []token) {
	ends := map[rune]int{} // the position of the next closing mark of each sort
	for at := 0; len(found) < maxQuotes; {
		i := strings.IndexAny(text[at:], opening)
		if i < 0 {
			break
		}
		mark, size := utf8.DecodeRuneInString(text[at+i:])
		start := at + i + size
		end, ok := ends[mark]
		if !ok || end < start {
			end = math.MaxInt
			if length := strings.Index(text[start:], closing[mark]); length >= 0 {
				end = start + length
			}
			ends[mark] = end
		}
		if end-start > maxQuote {
			at = start
			continue
		}
		if at = end + len(closing[mark]); end-start >= minQuote {
			found = append(found, token{start: start, end: end})
		}
	}
	return found
}
