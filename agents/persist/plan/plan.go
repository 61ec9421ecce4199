// Package plan defines the plan of a supervisor: tasks and their dependencies, the checks that
// must pass before it stops, and its limits. A plan is a YAML file, which is parsed strictly, or
// part of a scenario.
package plan

import (
	"strings"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// Plan describes the work of a supervisor.
type Plan struct {
	// Name identifies the plan and its stored state.
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]{0\\,63}$"`
	// Goal is the purpose of all tasks. It is part of the prompt of each.
	Goal string `yaml:"goal,omitempty" json:"goal,omitempty"`
	// Tasks are done in this order, each after its dependencies.
	Tasks []Task `yaml:"tasks" json:"tasks" jsonschema:"minItems=1"`
	// Workers do tasks, by name. The worker "default" does the tasks that name none; unless it is
	// given, it is a runner loop without options, or if every task names one, that of the first task.
	Workers map[string]Worker `yaml:"workers,omitempty" json:"workers,omitempty"`
	// Checks are the probes of checks, by name. A check without a probe that the supervisor cannot
	// answer from its own state has the verdict none.
	Checks map[Check]Probe `yaml:"checks,omitempty" json:"checks,omitempty"`
	// Limits bound attempts, questions and the context of prompts.
	Limits Limits `yaml:"limits,omitempty" json:"limits,omitzero"`
}

// Language returns the language of the goal and the tasks, in which the supervisor writes to its workers.
func (p Plan) Language() loop.Language {
	texts := []string{p.Goal}
	for _, t := range p.Tasks {
		texts = append(texts, t.Do)
	}
	return loop.LanguageOf(strings.Join(texts, "\n"))
}

// Task is a task of a plan.
type Task struct {
	// ID is unique in the plan.
	ID string `yaml:"id" json:"id" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]{0\\,63}$"`
	// Do is the request.
	Do string `yaml:"do" json:"do" jsonschema:"minLength=1"`
	// After are the ids of the tasks that must be done before.
	After []string `yaml:"after,omitempty" json:"after,omitempty"`
	// By names the worker; default "default".
	By string `yaml:"by,omitempty" json:"by,omitempty"`
	// Input has the inputs that the contract of a ReAct agent requires.
	Input map[string]any `yaml:"input,omitempty" json:"input,omitempty"`
	// Files are the files that the task works on. They are in its context.
	Files []string `yaml:"files,omitempty" json:"files,omitempty"`
	// Skip is the reason why the task is not done. Tasks that come after it do not wait for it.
	Skip string `yaml:"skip,omitempty" json:"skip,omitempty"`
	// Accept are commands that must end with exit status 0, in this order, before the task counts as
	// done. If one does not, the attempt has failed and the next one gets the end of its output.
	Accept []Acceptance `yaml:"accept,omitempty" json:"accept,omitempty"`
	// Retries is the number of retries after failed attempts; default 2.
	Retries *int `yaml:"retries,omitempty" json:"retries,omitempty" jsonschema:"minimum=0,maximum=100"`
	// Timeout ends an attempt; default 0 (off).
	Timeout quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
}

// Acceptance is a command that decides whether the work on a task is accepted. It runs in the folder
// of the plan.
type Acceptance struct {
	// Command is a program and its arguments: exit status 0 accepts the work.
	Command []string `yaml:"command" json:"command" jsonschema:"minItems=1"`
	// Env names the variables that Command inherits although they are named like keys, tokens or
	// passwords.
	Env []string `yaml:"env,omitempty" json:"env,omitempty"`
	// Timeout is the longest time that Command may take; default 10m.
	Timeout quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
}

// Probe returns the acceptance as a probe with its defaults.
func (a Acceptance) Probe() Probe {
	return Probe{Command: a.Command, Env: a.Env, Timeout: a.Timeout}.WithDefaults()
}

// Worker describes a worker. Exactly one of Loop, React and Command is given.
type Worker struct {
	// Loop is a runner loop whose prompt is the task. It has no timeout unless one is given, as the
	// timeout of the task and Limits.Stagnation bound an attempt. Its budget is for one attempt.
	// It must not set prompt and backend. With stream, a long answer counts as activity.
	Loop *loop.Options `yaml:"loop,omitempty" json:"loop,omitempty"`
	// React is a ReAct agent.
	React *React `yaml:"react,omitempty" json:"react,omitempty"`
	// Command is a program and its arguments. The task is its standard input, and its exit status
	// is the result. Its output counts as activity.
	Command []string `yaml:"command,omitempty" json:"command,omitempty"`
	// Env names the variables that Command inherits although they are named like keys, tokens or
	// passwords.
	Env []string `yaml:"env,omitempty" json:"env,omitempty"`
}

// React is a ReAct agent as a worker.
type React struct {
	// Agent is the file of the agent, relative to the plan.
	Agent string `yaml:"agent" json:"agent"`
	// Workspace is the folder of its actions, relative to the plan; default: the folder of the plan.
	Workspace string `yaml:"workspace,omitempty" json:"workspace,omitempty"`
	// MaxIterations overrides the limit of the agent.
	MaxIterations *int `yaml:"max_iterations,omitempty" json:"max_iterations,omitempty" jsonschema:"minimum=1"`
	// Interface is "tools" (steps are tool calls of the API) or "yaml"; default: tools if the backend takes them.
	Interface string `yaml:"interface,omitempty" json:"interface,omitempty" jsonschema:"enum=tools,enum=yaml"`
}

// Probe describes how a check is answered. Exactly one of Command, File, Markers and None is given.
type Probe struct {
	// Command is a program and its arguments: exit status 0 passes, another one fails. If it cannot
	// be run, or is ended from outside, the check is unknown.
	Command []string `yaml:"command,omitempty" json:"command,omitempty"`
	// Env names the variables that Command inherits although they are named like keys, tokens or
	// passwords.
	Env []string `yaml:"env,omitempty" json:"env,omitempty"`
	// Timeout is for Command; default 10m.
	Timeout quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	// File is a list of todos: Markdown with checkboxes, or JSON (*.json) as coding agents write it.
	File string `yaml:"file,omitempty" json:"file,omitempty"`
	// Markers are words that mark unfinished work, such as TODO.
	Markers []string `yaml:"markers,omitempty" json:"markers,omitempty"`
	// In are the files that are searched for Markers, as glob patterns with **; default: all text
	// files except the plan. Folders of version control and dependencies are skipped.
	In []string `yaml:"in,omitempty" json:"in,omitempty"`
	// None is the reason why there is nothing to check.
	None string `yaml:"none,omitempty" json:"none,omitempty"`
	// AtEnd is true if the check only runs when no task of the plan can be run, and not between tasks.
	AtEnd bool `yaml:"at_end,omitempty" json:"at_end,omitempty"`
	// Fix is the request when the check fails; default: a sentence with its name and details.
	Fix string `yaml:"fix,omitempty" json:"fix,omitempty"`
	// By is the worker that does it; default "default".
	By string `yaml:"by,omitempty" json:"by,omitempty"`
}

// Limits bound a run; the zero value is the documented default.
type Limits struct {
	// Rounds is the largest number of rounds of tasks derived from failed checks, without a task of
	// the plan done in between; default 5.
	Rounds int `yaml:"rounds,omitempty" json:"rounds,omitempty" jsonschema:"minimum=1"`
	// CheckEvery is the number of tasks between two full checks; default 5.
	CheckEvery int `yaml:"check_every,omitempty" json:"check_every,omitempty" jsonschema:"minimum=1"`
	// Timeout is for the whole run, across restarts; default 0 (off).
	Timeout quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	// Budget caps the whole run, across restarts.
	Budget llm.Caps `yaml:"budget,omitempty" json:"budget,omitzero"`
	// SaveEvery is the time between two checkpoints; default 5m.
	SaveEvery quantity.Duration `yaml:"save_every,omitempty" json:"save_every,omitempty"`
	// Stagnation is the longest time without activity of a task; default 10m.
	Stagnation quantity.Duration `yaml:"stagnation,omitempty" json:"stagnation,omitempty"`
	// NoProgress is the longest activity in which no task is done; default 2h.
	NoProgress quantity.Duration `yaml:"no_progress,omitempty" json:"no_progress,omitempty"`
	// ShortRun is the time below which stopping with tasks left is a sign of a
	// premature stop; default 30m.
	ShortRun quantity.Duration `yaml:"short_run,omitempty" json:"short_run,omitempty"`
	// ContextFiles is the largest number of files in context; default 50.
	ContextFiles int `yaml:"context_files,omitempty" json:"context_files,omitempty" jsonschema:"minimum=1,maximum=10000"`
	// ContextBytes is the largest size of all files in a prompt together; default 32 KiB. With 0,
	// prompts only name files.
	ContextBytes *int `yaml:"context_bytes,omitempty" json:"context_bytes,omitempty" jsonschema:"minimum=0,maximum=1048576"`
	// ContextFileBytes is the largest size of each file in a prompt; default 8 KiB.
	ContextFileBytes int `yaml:"context_file_bytes,omitempty" json:"context_file_bytes,omitempty" jsonschema:"minimum=1,maximum=1048576"`
	// OptimiseEvery is the time between two evictions of unused files; default 15m.
	OptimiseEvery quantity.Duration `yaml:"optimise_every,omitempty" json:"optimise_every,omitempty"`
	// SoftCalls is the number of tool calls of a segment after which a checkpoint is
	// saved; default nine tenths of HardCalls: 900.
	SoftCalls int `yaml:"soft_calls,omitempty" json:"soft_calls,omitempty" jsonschema:"minimum=1"`
	// HardCalls is the number of tool calls after which a new segment begins;
	// default 1000.
	HardCalls int `yaml:"hard_calls,omitempty" json:"hard_calls,omitempty" jsonschema:"minimum=2"`
	// Segments is the largest number of segments; default 100.
	Segments int `yaml:"segments,omitempty" json:"segments,omitempty" jsonschema:"minimum=1"`
}
