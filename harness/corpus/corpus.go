// Package corpus reads labelled messages, one JSON object a line.
package corpus

// Item is a message with what a person says of it.
type Item struct {
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
