// Package corpus reads labelled messages, one JSON object a line.
package corpus

// Item is a message with what a person says of it.
type Item struct {
	// ID is unique in its file; a message without one is called "file:line".
	ID   string `json:"id"`
	Text string `json:"text"`
	// Lang is fr, en or mixed.
	Lang string `json:"lang"`
	// Label is the ground truth: defers, asks, suggests or clean.
	Label string `json:"label"`
	// Categories are those of agents/stop, where the message defers or suggests.
	Categories []string `json:"categories,omitempty"`
	// Steps are the deferred steps, word for word.
	Steps []string `json:"steps,omitempty"`
	Tags  []string `json:"tags,omitempty"`
	// Confidence is how sure the person was: high, medium or low; high if empty.
	Confidence string `json:"confidence,omitempty"`
	// Part and Repo group items for scores and for folds.
	Part string `json:"part,omitempty"`
	Repo string `json:"repo,omitempty"`
	// Note says why the item is hard.
	Note string `json:"note,omitempty"`
}

// The labels. Of the four, only Defers is positive.
const (
	Defers   = "defers"
	Asks     = "asks"
	Suggests = "suggests"
	Clean    = "clean"
)

// Positive says that the message defers work.
func (it Item) Positive() bool { return it.Label == Defers }

// Labels lists the labels; the positive one comes first.
func Labels() []string { return []string{Defers, Asks, Suggests, Clean} }

// Categories lists what a category may be.
func Categories() []string {
	return []string{"next_steps", "remaining_tasks", "future_actions", "conditional_intentions", "enumerative_list"}
}

// Confidences lists how sure a person may be, the surest first.
func Confidences() []string { return []string{"high", "medium", "low"} }
