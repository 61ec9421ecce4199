// Package measure turns recorded trials into numbers with confidence intervals. It
// reads recordings only and never starts an agent.
package measure

import (
	"encoding/json"

	"github.com/rehearse-dev/rehearse/event"
)

// Facts are the measures of one trial, and the variables of expressions under `that:`. Times
// are in seconds. An unknown value is marked as such and never 0.
type Facts struct {
	Run     RunFacts     `cel:"run" json:"run"`
	Calls   CallFacts    `cel:"calls" json:"calls"`
	Tokens  TokenFacts   `cel:"tokens" json:"tokens"`
	Cost    CostFacts    `cel:"cost" json:"cost"`
	Latency LatencyFacts `cel:"latency" json:"latency"`
	Script  ScriptFacts  `cel:"script" json:"script"`
	// Extensions are the facts that only some agents have, each a pointer to a struct, by
	// the name of the extension. Their names are variables as well.
	Extensions map[string]any `cel:"-" json:"-"`
	// Stops compares the decisions of a stop guard with their labels.
	Stops StopFacts `cel:"-" json:"-"`
	// Golden are the facts of the trial without perturbations; zero if it has none.
	Golden Golden        `cel:"golden" json:"-"`
	Events []event.Event `cel:"events" json:"-"`
	// Answers are the texts of the replies, in order.
	Answers []string `cel:"answers" json:"-"`
	// Scores has the result of each score of the last answer, by name.
	Scores map[string]bool `cel:"scores" json:"scores,omitempty"`
	// Turns are the turns of a conversation with an external agent; empty for others.
	Turns []TurnFacts `cel:"turns" json:"-"`
	// MCP are the calls of tools at scripted MCP servers, in the order in which they ended.
	MCP []ToolFacts `cel:"mcp" json:"-"`
	// Files are the beginnings of the files that the agent left in its workspace, by path.
	Files map[string]string `cel:"files" json:"-"`
	// User describes the conversation from the side of a simulated user; the extension of simulated
	// users shows it to expressions. Checks are the checks of the conversation's script.
	User   UserFacts    `cel:"-" json:"-"`
	Checks []CheckFacts `cel:"-" json:"-"`
	// Snapshots are the renderings to compare with snapshots, by the keys of expect.Snapshot.
	Snapshots map[string]string `cel:"-" json:"-"`
	// Last is the last call, for readers of a failed trial; nil without calls.
	Last *LastCall `cel:"-" json:"-"`
	// Log is the other output of an external agent, if it is recorded.
	Log string `cel:"-" json:"-"`
}

// String returns the facts as indented JSON, with the names that expressions use.
func (f Facts) String() string {
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return "the facts cannot be encoded: " + err.Error()
	}
	return string(data)
}

// RunFacts describe how the agent ended.
type RunFacts struct {
	Status     string `cel:"status" json:"status"`
	ExitCode   int    `cel:"exit_code" json:"exit_code"`
	Iterations int    `cel:"iterations" json:"iterations"`
	// Writes counts durable writes, over all processes of the trial.
	Writes  int    `cel:"writes" json:"writes,omitempty"`
	Text    string `cel:"text" json:"-"`
	Summary string `cel:"summary" json:"summary,omitempty"`
	Details string `cel:"details" json:"details,omitempty"`
	// Silent is true if an external agent ended with an error and gave no reason itself: Details has only the harness's
	// words.
	Silent   bool    `cel:"silent" json:"silent,omitempty"`
	Duration float64 `cel:"duration" json:"duration"` // seconds on the trial's clock
	// DurationKnown is false if neither the recording nor a timings file has the duration.
	DurationKnown bool   `cel:"duration_known" json:"duration_known"`
	Error         string `cel:"error" json:"error,omitempty"` // why the trial could not be run
	// AgentError is true where Error is a failure of the agent, or of how it is started,
	// and not of the harness.
	AgentError bool `cel:"-" json:"-"`
	// Skipped is the reason why the trial was not run: this machine lacks something that it
	// needs.
	Skipped string `cel:"skipped" json:"skipped,omitempty"`
	// Perturbed counts the faults and other perturbations that fired.
	Perturbed int `cel:"perturbed" json:"perturbed,omitempty"`
	// Struck counts the perturbations of writes and turns that fired, by their text form.
	Struck map[string]int `cel:"struck" json:"struck,omitempty"`
	// Cause is the kind of error of the last call, if that failed in a run that did not
	// succeed; Details must name it. It is empty if the run canceled the call itself.
	Cause string `cel:"cause" json:"cause,omitempty"`
	// Resumed is the status with which a perturbed run ended after it was resumed without
	// faults; empty if the run had ended by itself, or stores nothing. No other fact covers
	// the resumed part.
	Resumed string `cel:"resumed" json:"resumed,omitempty"`
	// Denied are the tool calls that the agent's permissions refused, as its program
	// reported them: one text for each answer with such calls.
	Denied []string `cel:"denied" json:"denied,omitempty"`
	// Hidden describes the injected failures of tools at MCP servers of which the model was not told: the result of
	// the call in the next request is not marked as a failure and does not mention one.
	Hidden []string `cel:"hidden" json:"hidden,omitempty"`
	// Recalled has the user's messages of earlier turns that requests of an external agent contain, such as "turn 1 in
	// turn 3". Forgot has those that the requests of a turn do not contain before which the agent was restarted.
	Recalled []string `cel:"recalled" json:"recalled,omitempty"`
	Forgot   []string `cel:"forgot" json:"forgot,omitempty"`
	// Violations are the violated invariants of the agent that the driver reported, such as
	// lost or duplicate answers, and finished tasks that were repeated.
	Violations []string `cel:"broken" json:"broken,omitempty"`
}

// CallFacts count the calls to the backend.
type CallFacts struct {
	Total  int `cel:"total" json:"total"`
	Failed int `cel:"failed" json:"failed"`
	// Retries are retries of the project's own client, each within its call, or repeated
	// requests of an external agent, each a call of its own.
	Retries int `cel:"retries" json:"retries"`
	// EarlyRetries counts the requests that came before the wait was over that the previous
	// answer asked for; those about files and batches are compared with the previous answer to the
	// same kind of request. Only a scripted backend knows them.
	EarlyRetries int            `cel:"early_retries" json:"early_retries,omitempty"`
	By           map[string]int `cel:"by" json:"by,omitempty"`         // by purpose
	Errors       map[string]int `cel:"errors" json:"errors,omitempty"` // by kind, retries included
	// InARow is the largest number of requests in a row that failed by the same injected fault before another request
	// followed: the agent did not give up. It is 0 if no such request followed another.
	InARow int `cel:"in_a_row" json:"in_a_row,omitempty"`
	// Finish is the finish reason of the last answer, such as "stop" or "length".
	Finish string `cel:"finish" json:"finish,omitempty"`
	// LastError is the kind of error of the last call; empty if the call was answered.
	LastError string `cel:"last_error" json:"last_error,omitempty"`
}

// TokenFacts sum the usage of all calls.
type TokenFacts struct {
	// Known is false if any answered call has no usage; the sums then cover the other
	// calls.
	Known     bool `cel:"known" json:"known"`
	Input     int  `cel:"input" json:"input"`
	Cached    int  `cel:"cached" json:"cached"`
	Output    int  `cel:"output" json:"output"`
	Reasoning int  `cel:"reasoning" json:"reasoning"`
	Total     int  `cel:"total" json:"total"`
}

// CostFacts are money. With Known false the amounts are a lower bound.
type CostFacts struct {
	Known bool    `cel:"known" json:"known"`
	EUR   float64 `cel:"eur" json:"eur"`
	USD   float64 `cel:"usd" json:"usd"`
	// Most is the cost of the most expensive call, in USD.
	Most float64 `cel:"most" json:"most,omitempty"`
	// Why is the reason why the cost is unknown.
	Why string `cel:"why" json:"why,omitempty"`
}

// LatencyFacts summarize the latencies of the trial's calls, in seconds; N is 0 if they are
// unknown.
type LatencyFacts struct {
	N    int     `cel:"n" json:"n"`
	Mean float64 `cel:"mean" json:"mean"`
	P50  float64 `cel:"p50" json:"p50"`
	P95  float64 `cel:"p95" json:"p95"`
	Max  float64 `cel:"max" json:"max"`
	// All are the single latencies in the order of the calls.
	All []float64 `cel:"all" json:"-"`
}

// ScriptFacts report where the script and the run did not match.
type ScriptFacts struct {
	Requests   int            `cel:"requests" json:"requests"` // requests that reached the scripted backend
	Unused     []string       `cel:"unused" json:"unused,omitempty"`
	Unexpected []string       `cel:"unexpected" json:"unexpected,omitempty"`
	Invalid    []string       `cel:"invalid" json:"invalid,omitempty"`
	Unfired    []string       `cel:"unfired" json:"unfired,omitempty"`
	Warnings   []string       `cel:"warnings" json:"warnings,omitempty"`
	Fired      map[string]int `cel:"fired" json:"fired,omitempty"`     // faults by kind
	HungUp     int            `cel:"hung_up" json:"hung_up,omitempty"` // clients that disconnected

	// As in record.Script; expressions do not have them.
	Strays, InvalidTools, UnofferedTools []string `json:"-"`

	Perturbed map[string]int `json:"-"`
}

// StopFacts compare what a stop guard decided with the labels of expect.stops.
type StopFacts struct {
	// Misjudged describes each answer whose decision contradicts its label.
	Misjudged []string
	// Outcomes has a letter for each labelled answer, in order: P for one that defers and
	// was refused, p for another that was refused, N for another that was allowed, n for
	// one that defers and was allowed.
	Outcomes string
}
