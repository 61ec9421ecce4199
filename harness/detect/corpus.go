package detect

// Item is a text with its label.
type Item struct {
	// ID is unique in its file; a message without one is called "file:line".
	ID string `json:"id"`
	// Text is the message; for a reflection it is the document that a ReAct agent writes,
	// with observation and reflection.
	Text string `json:"text"`
	// Lang is fr, en or mixed.
	Lang string `json:"lang"`
	// Label is the ground truth, one of the labels of the corpus' kind.
	Label string `json:"label"`
	// Categories are those of agents/stop, if the message defers or suggests.
	Categories []string `json:"categories,omitempty"`
	// Steps are the deferred steps, word for word.
	Steps []string `json:"steps,omitempty"`
	Tags  []string `json:"tags,omitempty"`
	// Confidence is the confidence of the person who labelled it: high, medium or low;
	// high if empty.
	Confidence string `json:"confidence,omitempty"`
	// Part and Repo group items for scores and for folds.
	Part string `json:"part,omitempty"`
	Repo string `json:"repo,omitempty"`
	// Note describes why the item is hard.
	Note string `json:"note,omitempty"`
}

// Kind is the kind of the items of a corpus.
type CorpusKind string

// The kinds.
const (
	// Messages are the last messages of agents; the default.
	Messages CorpusKind = "messages"
	// Reflections are reflections of ReAct agents on an observation.
	Reflections CorpusKind = "reflections"
)

// Kinds lists the kinds.
func CorpusKinds() []CorpusKind { return []CorpusKind{Messages, Reflections} }

// The labels of messages. Of the four, only Defers is positive.
const (
	Defers   = "defers"
	Asks     = "asks"
	Suggests = "suggests"
	Clean    = "clean"
)

// The labels of reflections. Complacent is positive.
const (
	Complacent = "complacent"
	Critical   = "critical"
)

// Labels lists the labels of a kind: the positive one first, and the clearly negative one
// last.
func (k CorpusKind) Labels() []string {
	if k == Reflections {
		return []string{Complacent, Critical}
	}
	return []string{Defers, Asks, Suggests, Clean}
}

// Positive reports whether the message defers work, or the reflection is complacent.
func (it Item) Positive() bool { return it.Label == Defers || it.Label == Complacent }

// Categories lists the categories.
func Categories() []string {
	return []string{"next_steps", "remaining_tasks", "future_actions", "conditional_intentions", "enumerative_list"}
}

// Confidences lists the levels of confidence, the highest first.
func Confidences() []string { return []string{"high", "medium", "low"} }
