// Package stop judges an agent's last message: is it about to stop with work
// that it announced and has not done? The judgement is a pure function of the
// message. It reads French and English, calls no model, and explains itself. Of a
// message longer than 256 KiB it reads the first and the last 128 KiB.
package stop

import "time"

// Policy selects which messages are refused as a stop.
type Policy string

// The policies. Each refuses a message from a probability that it defers work; those of the
// shipped weights were chosen on messages of repositories that the weights had not seen.
const (
	// Balanced maximizes F1. The default.
	Balanced Policy = "balanced"
	// Strict finds 97 % of the messages that clearly defer work, at the cost of precision. It
	// also refuses messages that wait for an approval. Below the probability of Balanced, it
	// only refuses a message with a real detection.
	Strict Policy = "strict"
	// Careful refuses with a precision of 95 %, at the cost of recall.
	Careful Policy = "careful"
)

// Class is the intention of a message at its end.
type Class string

// The classes, which are also the labels of a corpus.
const (
	Defers   Class = "defers"   // announces work of the task that the agent could do itself and has not done
	Asks     Class = "asks"     // needs a decision, an approval or an input of the user
	Suggests Class = "suggests" // optional ideas or offers beyond the task
	Clean    Class = "clean"    // none of these
)

// Category is a kind of mention, as document 000 lists them.
type Category string

// The categories.
const (
	NextSteps             Category = "next_steps"
	RemainingTasks        Category = "remaining_tasks"
	FutureActions         Category = "future_actions"
	ConditionalIntentions Category = "conditional_intentions"
	EnumerativeList       Category = "enumerative_list"
)

// Severity is the weight of a detection.
type Severity string

// The severities.
const (
	Low      Severity = "low"
	Medium   Severity = "medium"
	High     Severity = "high"
	Critical Severity = "critical"
)

// Point is the moment at which the guard is asked.
type Point string

// The injection points of document 000.
const (
	FinalAnswer     Point = "final-answer"
	TodoCompleted   Point = "todo-completed"
	TaskEnd         Point = "task-end"
	AfterCheckpoint Point = "after-checkpoint"
	VoluntaryPause  Point = "voluntary-pause"
)

// Span is a half-open range of bytes of the message.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Options configure Judge. The zero value has the defaults.
type Options struct {
	// Policy is Balanced by default.
	Policy Policy
	// Point is FinalAnswer by default; Judge copies it to the verdict.
	Point Point
	// Threshold is the probability from which Policy refuses a message, in (0, 1]; 0 means
	// that of the weights.
	Threshold float64
	// Weights are those of this version if nil.
	Weights *Weights
	// Request is the user's request that the message answers, or its end: the last 600 characters
	// are read. It is empty if unknown.
	Request string
}

// Verdict is the judgement of one message.
type Verdict struct {
	// MayStop is true if the agent may stop under Policy.
	MayStop bool   `json:"may_stop"`
	Policy  Policy `json:"policy"`
	Point   Point  `json:"point"`
	// Policies reports for each policy whether it lets the message stop.
	Policies map[Policy]bool `json:"policies"`
	Class    Class           `json:"class"`
	// Score is the probability that the message defers, in [0, 1].
	Score float64 `json:"score"`
	// Probabilities of the classes sum up to 1, but for rounding.
	Probabilities map[Class]float64 `json:"probabilities"`
	// Reason explains the verdict in a sentence.
	Reason     string      `json:"reason"`
	Detections []Detection `json:"detections,omitempty"`
	// Language is "fr" if most of the message is French, else "en".
	Language string `json:"language,omitempty"`
	// NeedsApproval is true if a person must approve, confirm, permit or review
	// something before the agent continues. The class is then Asks, and there are no Steps.
	NeedsApproval bool `json:"needs_approval,omitempty"`
	// Steps are the remaining work if MayStop is false.
	Steps []Step `json:"steps,omitempty"`
	// Signals make up the log-odds of the score, heaviest first: signals, words, request, bias.
	Signals []Signal `json:"signals,omitempty"`
}

// Detection is one mention.
type Detection struct {
	Category Category `json:"category"`
	// Pattern is the id of the rule or phrase that found it.
	Pattern string `json:"pattern"`
	Span
	// Text is the mention as written; Context is the text around it.
	Text    string `json:"text"`
	Context string `json:"context"`
	// Real is false for a mere reference; Why gives the reason.
	Real     bool     `json:"real"`
	Why      string   `json:"why"`
	Severity Severity `json:"severity"`
}

// Signal is one readable property of the message and what it adds to the score.
type Signal struct {
	Name string `json:"name"`
	// Weight is in log-odds: positive speaks for deferral.
	Weight float64 `json:"weight"`
	// Count is how often the signal was seen, up to Definition.Most.
	Count int `json:"count"`
	Span
	Text string `json:"text,omitempty"`
}

// Complexity is the amount of work in a step.
type Complexity string

// The complexities.
const (
	Simple   Complexity = "simple"
	Moderate Complexity = "moderate"
	Complex  Complexity = "complex"
)

// Step is one piece of work that a message leaves undone.
type Step struct {
	// ID is unique within the verdict and stable for equal messages.
	ID          string        `json:"id"`
	Description string        `json:"description"`
	Category    Category      `json:"category"`
	Complexity  Complexity    `json:"complexity"`
	DependsOn   []string      `json:"depends_on,omitempty"`
	Estimate    time.Duration `json:"estimate"`
	// NeedsUser is true for an act that cannot be undone or reaches others: deleting
	// data, a forced push, a deployment to production, a publication, a payment. No
	// agent may be ordered to do it; the user decides.
	NeedsUser bool `json:"needs_user,omitempty"`
	Span
}
