// Package reflect judges reflections: does one say something that its observation
// shows, or is it complacent? It is a pure function of the two texts, reads French
// and English, and explains itself. It takes time linear in the two texts.
package reflect

import (
	"fmt"
	"math"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Verdict is the judgement of one reflection.
type Verdict struct {
	// Critical says that the reflection cites at least one fact of the observation.
	Critical bool `json:"critical"`
	// Facts are what both texts have in common and what counts as a fact, as the
	// reflection words it: numbers with what they count, names, paths, codes, things
	// that are not there, quotations, and rare words. The heaviest come first, ten at most.
	Facts []string `json:"facts,omitempty"`
	// Score is the estimate that the reflection is complacent, in [0, 1]: it halves
	// with every half of a fact. From threshold on the reflection is complacent.
	Score float64 `json:"score"`
	// Reason says in a sentence why.
	Reason string `json:"reason"`
}

// threshold is the score from which a reflection is complacent.
const threshold = 0.5

const (
	maxText  = 1 << 20 // bytes of either text that are read
	maxFacts = 10      // that are listed; all count
	maxShown = 60      // characters of each
)

// Judge says whether a reflection cites a fact of its observation. Doubts and
// plans are no facts by themselves: a reflection that names what was not looked at, and
// nothing of what was seen, is complacent too. Of either text the first MiB is read.
func Judge(observation, reflection string) Verdict {
	observation, reflection = observation[:min(len(observation), maxText)], reflection[:min(len(reflection), maxText)]
	said := scan(reflection)
	if len(said) == 0 {
		return Verdict{Score: 1, Reason: "the reflection says nothing"}
	}
	seen := read(scan(observation))
	c := seen.cited(said, reflection)
	citeQuotes(observation, reflection, c)
	v := Verdict{Score: math.Exp2(-2 * c.weight)}
	v.Critical = v.Score < threshold
	for _, f := range c.heaviest(maxFacts) {
		v.Facts = append(v.Facts, sanitize.Line(f.text, maxShown))
	}
	v.Reason = reason(v, c, seen)
	return v
}

// reason explains a verdict to whoever wrote the reflection.
func reason(v Verdict, c *citations, seen *facts) string {
	switch {
	case v.Critical && len(c.all) == 1:
		return "it cites a fact of the observation: " + v.Facts[0]
	case v.Critical:
		return fmt.Sprintf("it cites %d facts of the observation: %s", len(c.all), strings.Join(v.Facts, "; "))
	case seen.empty():
		return "the observation is empty, and the reflection does not say so"
	case c.wrong != "":
		return fmt.Sprintf("it cites nothing that the observation shows; %q is not in it", sanitize.Line(c.wrong, maxShown))
	case len(v.Facts) > 0:
		return fmt.Sprintf("it shares only the word %q with the observation", v.Facts[0])
	}
	return "it cites nothing that the observation shows"
}
