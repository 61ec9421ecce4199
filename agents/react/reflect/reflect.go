// Package reflect judges reflections: does one say something that its observation
// shows, or is it complacent? It is a pure function of the two texts, reads French
// and English, and explains itself.
package reflect

// Verdict is the judgement of one reflection.
type Verdict struct {
	// Critical says that the reflection cites at least one fact of the observation.
	Critical bool `json:"critical"`
	// Facts are what both texts have in common and what counts as a fact: numbers,
	// names, paths, codes, and rare words.
	Facts []string `json:"facts,omitempty"`
	// Score is the estimate that the reflection is complacent, in [0, 1].
	Score float64 `json:"score"`
	// Reason says in a sentence why.
	Reason string `json:"reason"`
}
