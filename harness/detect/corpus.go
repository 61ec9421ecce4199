package detect

// Item is a text with its label.
type Item struct {
	// ID is unique in its file; a message without one is called "file:line".
	ID string `json:"id"`
	// Text is the message, or for a reflection the document of a ReAct agent with observation and
	// reflection.
	Text string `json:"text"`
	// Request is the user's request that the message answers; empty if unknown.
	Request string `json:"request,omitempty"`
	// Lang is "fr", "en" or "mixed".
	Lang string `json:"lang"`
	// Label is the ground truth, one of the labels of the corpus kind.
	Label string `json:"label"`
	// Categories are categories of agents/stop, for a message that defers or suggests; nil if
	// unknown.
	Categories []string `json:"categories,omitempty"`
	// Steps are the deferred steps, verbatim.
	Steps []string `json:"steps,omitempty"`
	Tags  []string `json:"tags,omitempty"`
	// Confidence is the labeller's confidence: "high", "medium" or "low"; empty means "high".
	Confidence string `json:"confidence,omitempty"`
	// Part and Repo group items in scores and folds.
	Part string `json:"part,omitempty"`
	Repo string `json:"repo,omitempty"`
	// Note explains why the item is hard.
	Note string `json:"note,omitempty"`
}

// CorpusKind is the kind of the items of a corpus.
type CorpusKind string

// The kinds.
const (
	// Messages are the last messages of agents. It is the default.
	Messages CorpusKind = "messages"
	// Reflections are reflections of ReAct agents on an observation.
	Reflections CorpusKind = "reflections"
)

// CorpusKinds returns all kinds.
func CorpusKinds() []CorpusKind { return []CorpusKind{Messages, Reflections} }

// The labels of messages. Only Defers is positive.
const (
	Defers   = "defers"
	Asks     = "asks"
	Suggests = "suggests"
	Clean    = "clean"
)

// The labels of reflections. Only Complacent is positive.
const (
	Complacent = "complacent"
	Critical   = "critical"
)

// Labels returns the labels of a kind: the positive one first, the clearly negative one last.
func (k CorpusKind) Labels() []string {
	if k == Reflections {
		return []string{Complacent, Critical}
	}
	return []string{Defers, Asks, Suggests, Clean}
}

// Positive reports whether the item is a message that defers work or a complacent reflection.
func (it Item) Positive() bool { return it.Label == Defers || it.Label == Complacent }

func categories() []string {
	return []string{"next_steps", "remaining_tasks", "future_actions", "conditional_intentions", "enumerative_list"}
}

// Confidences returns the levels of confidence, the highest first.
func Confidences() []string { return []string{"high", "medium", "low"} }
