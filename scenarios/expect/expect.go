// Package expect defines the expectations of a scenario. The same type is written in scenario
// files, stored in recordings and judged by the gate.
package expect

import "github.com/rehearse-dev/rehearse/internal/quantity"

// Expect contains the expectations of each trial. Fields that are not set are not judged.
type Expect struct {
	// Status is the agent's end status, such as "done" or "no-progress".
	Status string `yaml:"status,omitempty" json:"status,omitempty"`
	// ExitCode is the agent's exit code.
	ExitCode *int `yaml:"exit_code,omitempty" json:"exit_code,omitempty"`
	// Calls counts calls to the backend, without retries of a call.
	Calls *Count `yaml:"calls,omitempty" json:"calls,omitempty"`
	// CallsBy counts calls by purpose; other purposes are not judged.
	CallsBy map[string]Count `yaml:"calls_by,omitempty" json:"calls_by,omitempty"`
	// Retries counts the failed attempts that a backend retried.
	Retries *Count `yaml:"retries,omitempty" json:"retries,omitempty"`
	// Iterations counts passes of the agent's outer loop.
	Iterations *Count `yaml:"iterations,omitempty" json:"iterations,omitempty"`
	// EarlyRetries counts the requests that came before the wait was over that the previous answer
	// asked for (Retry-After). Give 0 to find an agent that ignores it.
	EarlyRetries *Count `yaml:"early_retries,omitempty" json:"early_retries,omitempty"`
	// Tokens counts all tokens of all calls.
	Tokens *Count `yaml:"tokens,omitempty" json:"tokens,omitempty"`
	// Cost is computed from the dated price table; an unknown cost does not pass.
	Cost *Cost `yaml:"cost,omitempty" json:"cost,omitempty"`
	// Latency limits the latencies of the trial's calls.
	Latency *Latency `yaml:"latency,omitempty" json:"latency,omitempty"`
	// Duration limits the trial on its own clock.
	Duration *quantity.Duration `yaml:"duration,omitempty" json:"duration,omitempty"`
	// Stops are a person's labels for the answers that the stop guard judges, in order: defers,
	// asks, suggests or clean. An answer that defers must be refused and any other allowed, with
	// one label for each judgement. They determine the rates of false alarms and misses.
	Stops []string `yaml:"stops,omitempty" json:"stops,omitempty" jsonschema:"enum=defers,enum=asks,enum=suggests,enum=clean"`
	// Snapshot compares the trial with what it produced before.
	Snapshot *Snapshot `yaml:"snapshot,omitempty" json:"snapshot,omitempty"`
	// That lists expressions (CEL) over the trial's facts; each must be true.
	That []string `yaml:"that,omitempty" json:"that,omitempty"`
	// Allow permits findings that otherwise fail, by their rule: "unused-line", "unexpected-call",
	// "invalid-request", "misjudged-stop", "unreached-goal", "avoided-goal".
	Allow []string `yaml:"allow,omitempty" json:"allow,omitempty" jsonschema:"enum=unused-line,enum=unexpected-call,enum=invalid-request,enum=misjudged-stop,enum=unreached-goal,enum=avoided-goal"` //nolint:lll // a struct tag cannot be broken
}

// Count limits a count. In a file it is either a number (exactly that many) or a
// mapping.
type Count struct {
	// Exactly is the expected number.
	Exactly *int `yaml:"exactly,omitempty" json:"exactly,omitempty" jsonschema:"minimum=0"`
	// AtLeast is the smallest expected number.
	AtLeast *int `yaml:"at_least,omitempty" json:"at_least,omitempty" jsonschema:"minimum=0"`
	// AtMost is the largest expected number.
	AtMost *int `yaml:"at_most,omitempty" json:"at_most,omitempty" jsonschema:"minimum=0"`
}

// Cost limits the money spent in a trial.
type Cost struct {
	// AtLeast is the smallest expected cost, such as "0.01 EUR".
	AtLeast *quantity.Money `yaml:"at_least,omitempty" json:"at_least,omitempty"`
	// AtMost is the largest expected cost, such as "0.01 EUR".
	AtMost *quantity.Money `yaml:"at_most,omitempty" json:"at_most,omitempty"`
}

// Latency limits the time that calls take, each at most the given duration.
type Latency struct {
	// Mean limits the mean of the latencies.
	Mean *quantity.Duration `yaml:"mean,omitempty" json:"mean,omitempty"`
	// P50 limits the median of the latencies.
	P50 *quantity.Duration `yaml:"p50,omitempty" json:"p50,omitempty"`
	// P95 limits the latency that 95 % of the calls do not exceed.
	P95 *quantity.Duration `yaml:"p95,omitempty" json:"p95,omitempty"`
	// Max limits the latency of each call.
	Max *quantity.Duration `yaml:"max,omitempty" json:"max,omitempty"`
}
