// Package plan is what a supervisor carries out: tasks with what they depend on,
// the checks that must hold before it may stop, and its limits. A plan is a YAML
// file that is read strictly, or part of a scenario.
package plan

import (
	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/agents/persist/check"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// Plan is what is to be done.
type Plan struct {
	// Name identifies the plan; its state is kept under this name.
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]{0\\,63}$"`
	// Goal is what all tasks serve; it is told with each of them.
	Goal string `yaml:"goal,omitempty" json:"goal,omitempty"`
	// Tasks are done in this order, each after those that it depends on.
	Tasks []Task `yaml:"tasks" json:"tasks" jsonschema:"minItems=1"`
	// Workers do tasks, by name; "default" does those that name none. Without one
	// named so, it is a runner loop with nothing given.
	Workers map[string]Worker `yaml:"workers,omitempty" json:"workers,omitempty"`
	// Checks say how each check is probed. One that is left out and that the
	// supervisor cannot answer from its own state has the verdict none.
	Checks map[check.Name]Probe `yaml:"checks,omitempty" json:"checks,omitempty"`
	Limits Limits               `yaml:"limits,omitempty" json:"limits,omitzero"`
}

// Task is one piece of work.
type Task struct {
	// ID is unique in the plan.
	ID string `yaml:"id" json:"id" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]{0\\,63}$"`
	// Do is what is asked for.
	Do string `yaml:"do" json:"do" jsonschema:"minLength=1"`
	// After are the ids of tasks that must be done before.
	After []string `yaml:"after,omitempty" json:"after,omitempty"`
	// By names the worker; default "default".
	By string `yaml:"by,omitempty" json:"by,omitempty"`
	// Input is what an agent's contract asks for, where a ReAct agent does the task.
	Input map[string]any `yaml:"input,omitempty" json:"input,omitempty"`
	// Files are those that the task works on; they are in its context.
	Files []string `yaml:"files,omitempty" json:"files,omitempty"`
	// Retries is how often a failed attempt is made again; default 2.
	Retries *int `yaml:"retries,omitempty" json:"retries,omitempty" jsonschema:"minimum=0,maximum=100"`
	// Timeout ends an attempt; default 0 (off).
	Timeout quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
}

// Worker says who does tasks; exactly one of Loop, React and Command is given.
type Worker struct {
	// Loop is a runner loop whose prompt is the task. Its timeout is off unless it is
	// given: the task's and the watchdog of Limits.Stagnation bound an attempt. Its
	// budget is for one attempt. Prompt and backend are not its own. With stream the
	// watchdog sees a long answer coming.
	Loop *loop.Options `yaml:"loop,omitempty" json:"loop,omitempty"`
	// React is a ReAct agent.
	React *React `yaml:"react,omitempty" json:"react,omitempty"`
	// Command is a program and its arguments; the task is its standard input, and
	// its exit status the result. What it prints is the activity that the watchdog sees.
	Command []string `yaml:"command,omitempty" json:"command,omitempty"`
	// Env names variables that are handed on to Command although they are named like
	// keys, tokens or passwords; all others of that sort are not.
	Env []string `yaml:"env,omitempty" json:"env,omitempty"`
}

// React is a ReAct agent as a worker.
type React struct {
	// Agent is the agent's file, relative to the plan.
	Agent string `yaml:"agent" json:"agent"`
	// Workspace is the folder that its actions work in, relative to the plan;
	// default: the plan's own folder.
	Workspace string `yaml:"workspace,omitempty" json:"workspace,omitempty"`
	// MaxIterations overrides the agent's.
	MaxIterations *int `yaml:"max_iterations,omitempty" json:"max_iterations,omitempty" jsonschema:"minimum=1"`
}

// Probe says how a check is answered; exactly one of Command, File, Markers and
// None is given.
type Probe struct {
	// Command is a program and its arguments: exit status 0 passes, another one
	// fails; one that cannot be run or is ended from outside leaves the check unknown.
	Command []string `yaml:"command,omitempty" json:"command,omitempty"`
	// Env names variables that are handed on to Command although they are named like
	// keys, tokens or passwords; all others of that sort are not.
	Env []string `yaml:"env,omitempty" json:"env,omitempty"`
	// Timeout is for Command; default 10m.
	Timeout quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	// File is a list of todos: Markdown with checkboxes, or JSON (*.json) as coding
	// agents write it.
	File string `yaml:"file,omitempty" json:"file,omitempty"`
	// Markers are words that stand for unfinished work, such as TODO; In are the
	// files that are searched, as glob patterns with ** (default: all text files but
	// the plan). Version control, node_modules, vendor and the like are passed over.
	Markers []string `yaml:"markers,omitempty" json:"markers,omitempty"`
	In      []string `yaml:"in,omitempty" json:"in,omitempty"`
	// None says why there is nothing to check.
	None string `yaml:"none,omitempty" json:"none,omitempty"`
	// Fix is what is asked for when the check fails; default: a sentence made of
	// its name and details. By names the worker that does it.
	Fix string `yaml:"fix,omitempty" json:"fix,omitempty"`
	By  string `yaml:"by,omitempty" json:"by,omitempty"`
}

// Limits bound a run; the zero value is the documented default.
type Limits struct {
	// Rounds is how often in a row failed checks are turned into tasks, without a task
	// of the plan being done in between; default 5.
	Rounds int `yaml:"rounds,omitempty" json:"rounds,omitempty" jsonschema:"minimum=1"`
	// CheckEvery is how many tasks pass between two full checks; default 5.
	CheckEvery int `yaml:"check_every,omitempty" json:"check_every,omitempty" jsonschema:"minimum=1"`
	// Timeout is for the whole run, over all its processes; default 0 (off).
	Timeout quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	// Budget caps the whole run; what is spent survives a restart.
	Budget llm.Caps `yaml:"budget,omitempty" json:"budget,omitzero"`
	// SaveEvery is the time between two checkpoints; default 5m.
	SaveEvery quantity.Duration `yaml:"save_every,omitempty" json:"save_every,omitempty"`
	// Stagnation is how long a task may show no activity; default 10m.
	Stagnation quantity.Duration `yaml:"stagnation,omitempty" json:"stagnation,omitempty"`
	// NoProgress is how long tasks may be active without one being done; default 2h.
	NoProgress quantity.Duration `yaml:"no_progress,omitempty" json:"no_progress,omitempty"`
	// ShortRun is the time below which stopping with tasks left is a sign of a
	// premature stop; default 30m.
	ShortRun quantity.Duration `yaml:"short_run,omitempty" json:"short_run,omitempty"`
	// ContextFiles is how many files are in context at most; default 50.
	ContextFiles int `yaml:"context_files,omitempty" json:"context_files,omitempty" jsonschema:"minimum=1,maximum=10000"`
	// OptimiseEvery is the time between two looks at the context; default 15m.
	OptimiseEvery quantity.Duration `yaml:"optimise_every,omitempty" json:"optimise_every,omitempty"`
	// SoftCalls is the number of tool calls of a segment after which a checkpoint is
	// made; default nine tenths of HardCalls: 900.
	SoftCalls int `yaml:"soft_calls,omitempty" json:"soft_calls,omitempty" jsonschema:"minimum=1"`
	// HardCalls is the number of tool calls after which a new segment begins;
	// default 1000.
	HardCalls int `yaml:"hard_calls,omitempty" json:"hard_calls,omitempty" jsonschema:"minimum=2"`
	// Segments is how many segments there may be; default 100.
	Segments int `yaml:"segments,omitempty" json:"segments,omitempty" jsonschema:"minimum=1"`
}
