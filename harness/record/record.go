// Package record reads and writes recordings. A recording is an append-only JSONL file with
// everything that measuring, judging and reporting need, so they never start an agent.
//
// Each line is one JSON object with a "type". Lines are chained: the "hash" of a
// line covers the line and the previous hash, so Verify can name a changed, removed or
// reordered line. The file has no wall-clock times and no random ids: the same scenario and
// seed give the same bytes.
package record

import (
	"encoding/json"
	"iter"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

// Schema names the format of the file.
const Schema = "rehearse.recording/1"

// Run is the first line.
type Run struct {
	Schema string `json:"schema"`
	// ID is derived from everything that determines the content.
	ID string `json:"id"`
	// Tool is the program's name and version.
	Tool string `json:"tool"`
	// Prices is the date of the price table, and EURPerUSD its exchange rate of RateDate. Dates are YYYY-MM-DD.
	Prices    string  `json:"prices"`
	EURPerUSD float64 `json:"eur_per_usd,omitzero"`
	RateDate  string  `json:"rate_date,omitempty"`
	// Scenarios and Trials are the planned numbers.
	Scenarios int               `json:"scenarios"`
	Trials    int               `json:"trials"`
	Labels    map[string]string `json:"labels,omitempty"`
	// Shard is set for one of several parts of a run. Scenarios and Trials then count the part.
	Shard *Shard `json:"shard,omitempty"`
}

// Shard describes a part of a run, and the run to which it belongs.
type Shard struct {
	// Index counts from 1.
	Index int `json:"index"`
	Of    int `json:"of"`
	// Run is the id of the whole run.
	Run string `json:"run"`
	// Options are the options of the run that change its results, such as "live".
	Options []string `json:"options,omitempty"`
	// Plan has all scenarios of the whole run in their order.
	Plan []Planned `json:"plan"`
}

// Planned is a scenario of a plan.
type Planned struct {
	Name   string `json:"name"`
	Trials int    `json:"trials"`
	// Shard is the index of the part to which it belongs.
	Shard int `json:"shard"`
}

// Scenario precedes the trials of a scenario, which can be read without the scenario file.
type Scenario struct {
	Name   string `json:"name"`
	File   string `json:"file,omitempty"`
	Digest string `json:"digest"`
	// Files has the SHA-256 hashes, in hex, of File and of the files that it names, by their paths
	// from its folder.
	Files   map[string]string `json:"files,omitempty"`
	About   string            `json:"about,omitempty"`
	Proves  []string          `json:"proves,omitempty"`
	Tags    []string          `json:"tags,omitempty"`
	Seed    uint64            `json:"seed"`
	Trials  int               `json:"trials"`
	Agent   string            `json:"agent"`   // "loop", ...
	Backend string            `json:"backend"` // "openai", "socket", "claude", ...
	Model   string            `json:"model,omitempty"`
	// RealTime is true if the driven system is another process. The times are then in the
	// timings file beside the recording.
	RealTime bool `json:"real_time,omitempty"`
	// Price is nil if the model's price is unknown.
	Price *price.Quote `json:"price,omitempty"`
	// User is the model of the simulated user; nil without one.
	User   *UserModel    `json:"user,omitempty"`
	Expect expect.Expect `json:"expect"`
	// Limits are the agent's effective settings, for readers.
	Limits json.RawMessage `json:"limits,omitempty"`
	// Where has the lines in File of what a finding can be about, by its path,
	// such as "expect.calls".
	Where map[string]int `json:"where,omitempty"`
	// Perturb has the perturbations in their text form. A scenario with perturbations is
	// named after the golden path and them, and judged by Invariants.
	Perturb    []string `json:"perturb,omitempty"`
	Invariants []string `json:"invariants,omitempty"`
	// Faults are the planned faults of the script; each must fire.
	Faults []PlannedFault `json:"faults,omitempty"`
}

// UserModel is a model that puts the messages of a simulated user into words.
type UserModel struct {
	Backend string `json:"backend"` // "openai" or "live"
	Model   string `json:"model,omitempty"`
	// Price is nil if the model's price is unknown.
	Price *price.Quote `json:"price,omitempty"`
}

// SourceFiles returns Files by their paths, with the folder of File, in order.
func (s *Scenario) SourceFiles() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, name := range slices.Sorted(maps.Keys(s.Files)) {
			if !yield(path.Join(path.Dir(s.File), name), s.Files[name]) {
				return
			}
		}
	}
}

// PlannedFault is a fault of the script.
type PlannedFault struct {
	Line  string `json:"line"` // "replies[0]"
	Kind  string `json:"kind"`
	Times int    `json:"times"`
}

// Trial is one execution of one scenario, complete.
type Trial struct {
	Head      TrialHead
	Messages  []Message
	Calls     []Call
	Exchanges []Exchange
	Events    []Event
	Script    Script
	End       End
}

// TrialHead is the first line of a trial.
type TrialHead struct {
	Scenario string `json:"scenario"`
	N        int    `json:"n"` // from 1
	Seed     uint64 `json:"seed"`
	// Golden has the facts of the same trial without perturbations (measure.Golden), if the
	// scenario has perturbations.
	Golden json.RawMessage `json:"golden,omitempty"`
}

// Message is stored once in a trial and referred to by its id.
type Message struct {
	ID string `json:"id"` // "m1", "m2", ... in order of first use
	llm.Message
}

// Call is one call of the agent to its backend.
type Call struct {
	N int `json:"n"` // from 1
	// At is when the call began, since the trial's start; absent in real time.
	At       time.Duration     `json:"at_ns,omitempty"`
	Latency  time.Duration     `json:"latency_ns,omitempty"`
	Purpose  string            `json:"purpose,omitempty"`
	Tags     map[string]string `json:"tags,omitempty"`
	Backend  string            `json:"backend"`
	Model    string            `json:"model,omitempty"`
	Messages []string          `json:"messages"`
	// Reply is the id of the answer; empty if the call failed.
	Reply       string           `json:"reply,omitempty"`
	Finish      llm.FinishReason `json:"finish,omitempty"`
	Usage       *llm.Usage       `json:"usage,omitempty"`
	ReportedUSD *float64         `json:"reported_usd,omitempty"`
	Retries     []llm.Retry      `json:"retries,omitempty"`
	Error       *CallError       `json:"error,omitempty"`
}

// CallError is the error of a failed call.
type CallError struct {
	Kind    llm.ErrorKind `json:"kind"`
	Status  int           `json:"status,omitempty"`
	Message string        `json:"message"`
}

// Exchange is one request that reached the scripted backend.
type Exchange struct {
	N int `json:"n"` // from 1, in order of arrival
	// Line is the script line that answered, such as "replies[0]"; empty if none.
	Line    string `json:"line,omitempty"`
	Attempt int    `json:"attempt,omitempty"` // of that line, from 1
	Status  int    `json:"status,omitempty"`  // HTTP status or exit status
	// Fault is the kind of the fault planned for this exchange. Fired is true if it took
	// effect on the wire.
	Fault string `json:"fault,omitempty"`
	Fired bool   `json:"fired,omitempty"`
	// Delivered is true if the whole planned answer was sent. HungUp is true if the client
	// disconnected before.
	Delivered bool       `json:"delivered"`
	HungUp    bool       `json:"hung_up,omitempty"`
	Frames    int        `json:"frames"` // sent frames
	Bytes     int        `json:"bytes"`  // sent bytes of the body
	Usage     *llm.Usage `json:"usage,omitempty"`
	// Problem is the reason why the request was unexpected or invalid.
	Problem string `json:"problem,omitempty"`
	// Refused is true if the request was refused because a budget of the trial or of the run was used up.
	Refused bool `json:"refused,omitempty"`
	// Retry is true if the client of an external agent repeated a failed request; the
	// project's own clients count theirs in Call.Retries.
	Retry bool `json:"retry,omitempty"`
	// Early is true if the request came before the wait was over that the previous answer asked
	// for, with Retry-After or in another way of the protocol.
	Early bool `json:"early,omitempty"`
}

// Event is an event of the agent with its time.
type Event struct {
	At time.Duration `json:"at_ns,omitempty"`
	event.Event
}

// Script is the report of the scripted backend at the end of a trial.
type Script struct {
	// Unused are the lines that were not delivered often enough.
	Unused []string `json:"unused,omitempty"`
	// Unexpected describes the calls that no line answered: the nearest line and the first
	// field that differs.
	Unexpected []string `json:"unexpected,omitempty"`
	// Strays are the entries of Unexpected about requests to unknown paths, or with the wrong method.
	Strays []string `json:"strays,omitempty"`
	// Invalid are the requests that a provider or an MCP server would have refused.
	Invalid []string `json:"invalid,omitempty"`
	// InvalidTools are the entries of Invalid about calls of the tools of MCP servers, and other messages to them.
	InvalidTools []string `json:"invalid_tools,omitempty"`
	// Unfired are the planned faults that never took effect, such as
	// "replies[2]: missing-done".
	Unfired []string `json:"unfired,omitempty"`
	// Perturbed counts how often each perturbation of calls, answers and tools took effect, by its text form. Those
	// of writes and turns are events.
	Perturbed map[string]int `json:"perturbed,omitempty"`
	// Warnings are advice about requests that were answered, such as one whose base URL lacks
	// "/v1".
	Warnings []string `json:"warnings,omitempty"`
	// UnofferedTools are the entries of Warnings about scripted calls of tools that the request did not offer.
	UnofferedTools []string `json:"unoffered_tools,omitempty"`
	// Storage has the requests about files and batches, in order of arrival, if the script has faults for
	// them. They are not calls.
	Storage []StorageRequest `json:"storage,omitempty"`
	// Stored are the kinds of all requests about files and batches, such as "POST /v1/files", in order.
	Stored []string `json:"stored,omitempty"`
}

// StorageRequest is one request about files and batches.
type StorageRequest struct {
	Request string `json:"request"`          // its kind, such as "GET /v1/batches/*"
	Status  int    `json:"status,omitempty"` // HTTP status
	// Line is the entry of the script with the fault planned for this request, such as "storage[0]", and
	// Fault its kind. Fired is true if it took effect on the wire.
	Line  string `json:"line,omitempty"`
	Fault string `json:"fault,omitempty"`
	Fired bool   `json:"fired,omitempty"`
	// Early is true if the request came before the wait was over that the previous answer to this kind of
	// request asked for.
	Early bool `json:"early,omitempty"`
}

// End is the last line of a trial: how the agent ended.
type End struct {
	Status     string        `json:"status"`
	ExitCode   int           `json:"exit_code"`
	Iterations int           `json:"iterations,omitempty"`
	Duration   time.Duration `json:"duration_ns,omitempty"`
	// Writes counts durable writes, over all processes of the trial.
	Writes  int    `json:"writes,omitempty"`
	Text    string `json:"text,omitempty"`
	Summary string `json:"summary,omitempty"`
	Details string `json:"details,omitempty"`
	// Silent is true if the agent ended and gave no reason itself, on standard error or in its output: Details has
	// only the harness's words.
	Silent bool `json:"silent,omitempty"`
	// HarnessError is the reason why the harness could not run the trial; the verdict is
	// then always "error".
	HarnessError string `json:"harness_error,omitempty"`
	// AgentError is true if HarnessError is a problem of the agent or of how the scenario
	// starts it, such as a missing program, and not of the harness.
	AgentError bool `json:"agent_error,omitempty"`
	// Skipped is the reason why the trial was not run: this machine lacks something that
	// it needs. The verdict is then "skip".
	Skipped string `json:"skipped,omitempty"`
}

// Close is the last line. Its absence means that the run was torn off.
type Close struct {
	Trials      int  `json:"trials"`
	Interrupted bool `json:"interrupted,omitempty"`
	// Stopped names the budget of the run that was used up before the plan was complete, or
	// its failures.
	Stopped string `json:"stopped,omitempty"`
	// FailFast is true if failures ended the run.
	FailFast bool `json:"fail_fast,omitempty"`
	// NotRun names the planned scenarios that have no trial in the recording.
	NotRun []string `json:"not_run,omitempty"`
}

// Timing is one line of the timings file beside a recording: a wall-clock time of a system
// that is another process.
type Timing struct {
	Scenario string `json:"scenario"`
	Trial    int    `json:"trial"`
	// Call is the call's number; 0 means the whole trial.
	Call    int           `json:"call"`
	Latency time.Duration `json:"latency_ns"`
}
