// Package reflect judges whether a reflection cites a fact of its observation or is
// complacent. The judgement is a pure function of the two texts, in French or English, comes
// with a reason, and takes time linear in their length.
package reflect

import (
	"fmt"
	"math"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Verdict is the judgement on a reflection.
type Verdict struct {
	// Critical reports whether the reflection cites at least one fact of the observation.
	Critical bool `json:"critical"`
	// Facts are the facts that both texts have, in the words of the reflection: numbers with
	// the things that they count, names, paths, codes, missing things, quotations, and rare
	// words. The heaviest come first; at most ten are listed.
	Facts []string `json:"facts,omitempty"`
	// Score estimates how complacent the reflection is, from 0 to 1. It halves with every half
	// of a fact; from 0.5 on the reflection is complacent.
	Score float64 `json:"score"`
	// Reason explains the verdict in a sentence.
	Reason string `json:"reason"`
}

// threshold is the score from which a reflection is complacent.
const threshold = 0.5

const (
	maxText  = 1 << 20 // bytes of either text that are examined
	maxFacts = 10      // in a verdict
	maxFact  = 60      // characters of each
)

// Judge judges whether a reflection cites a fact of its observation. Doubts and plans do not
// count as facts: a reflection that names only what was not examined is complacent, too. Only
// the first MiB of each text is examined.
func Judge(observation, reflection string) Verdict {
	observation, reflection = observation[:min(len(observation), maxText)], reflection[:min(len(reflection), maxText)]
	tokens := scan(reflection)
	if len(tokens) == 0 {
		return Verdict{Score: 1, Reason: "the reflection says nothing"}
	}
	seen := factsOf(scan(observation))
	c := seen.citedBy(tokens, reflection)
	citeQuotes(observation, reflection, c)
	v := Verdict{Score: math.Exp2(-2 * c.weight)}
	v.Critical = v.Score < threshold
	for _, f := range c.heaviest(maxFacts) {
		v.Facts = append(v.Facts, sanitize.Line(f.text, maxFact))
	}
	v.Reason = reason(v, c, seen)
	return v
}

// reason explains a verdict to the author of the reflection.
func reason(v Verdict, c *citations, seen *facts) string {
	switch {
	case v.Critical && len(c.all) == 1:
		return "it cites a fact of the observation: " + v.Facts[0]
	case v.Critical:
		return fmt.Sprintf("it cites %d facts of the observation: %s", len(c.all), strings.Join(v.Facts, "; "))
	case seen.empty():
		return "the observation is empty, and the reflection does not say so"
	case c.wrong != "":
		return fmt.Sprintf("it cites nothing that the observation shows; %q is not in it", sanitize.Line(c.wrong, maxFact))
	case len(v.Facts) > 0:
		return fmt.Sprintf("it shares only the word %q with the observation", v.Facts[0])
	}
	return "it cites nothing that the observation shows"
}
