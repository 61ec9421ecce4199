package reflect

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// The bounds of quotations that are looked for: each costs a search in the
// observation.
const (
	maxQuotes = 16
	minQuote  = 4 // bytes; what is shorter is found by chance
	maxQuote  = 400
)

// closing are the marks that end a quotation, by those that begin it.
var closing = map[rune]string{'"': `"`, '“': "”", '«': "»", '`': "`"}

const opening = "\"“«`"

// citeQuotes takes what a reflection quotes, and the observation says word for
// word, for a fact, where nothing in it is one already.
func citeQuotes(observation, reflection string, c *citations) {
	quotes := quoted(reflection)
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

// quoted finds the first quotations of a text, without their marks. What does not
// end soon is none.
func quoted(text string) (found []token) {
	ends := map[rune]int{} // where the next mark of each sort stands, so that none is looked for twice
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
