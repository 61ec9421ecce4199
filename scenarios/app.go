package scenarios

import (
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// Talk is what a user says to somebody else's agent, and how long that may take.
type Talk struct {
	// Turns are what the user says, one after the other; each waits for the answer to
	// the one before.
	Turns []string `yaml:"turns" json:"turns" jsonschema:"minItems=1"`
	// Timeout is how long one turn may take, in real time unless the agent is a Go
	// function; default 30s.
	Timeout quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	// MaxCalls and MaxCost bound the agent's calls to its model, over all turns. A call
	// beyond is refused and ends the trial with the status "budget".
	MaxCalls int            `yaml:"max_calls,omitempty" json:"max_calls,omitempty" jsonschema:"minimum=1"`
	MaxCost  quantity.Money `yaml:"max_cost,omitempty" json:"max_cost,omitzero"`
	// Files are in the workspace at the beginning, by path.
	Files map[string]string `yaml:"files,omitempty" json:"files,omitempty"`
	// InterruptAfter is when the user presses Ctrl-C, on the trial's clock.
	InterruptAfter quantity.Duration `yaml:"interrupt_after,omitempty" json:"interrupt_after,omitempty"`
}

// Process is how somebody else's program is started.
type Process struct {
	// Run is the program and its arguments. A program with a slash in it is relative to
	// the scenario file's folder, another is looked up in PATH. In all of them {here}
	// stands for that folder, and {rehearse} for the program that drives the scenario.
	Run []string `yaml:"run,omitempty" json:"run,omitempty"`
	// Env are variables beside those by which clients find the scripted backend.
	Env map[string]string `yaml:"env,omitempty" json:"env,omitempty"`
}

// FunctionDrive drives a Go function that the program which runs the scenario has
// registered under a name.
type FunctionDrive struct {
	Name string `yaml:"name" json:"name"`
	Talk `yaml:",inline"`
}

// CommandDrive drives a program by what it reads and prints.
type CommandDrive struct {
	Process `yaml:",inline"`
	Talk    `yaml:",inline"`
	// Input is how a turn reaches the program: "stdin" (default), "argument" (in place of
	// {turn} in Run, or at its end) or "file" (beside the workspace, whose path takes the
	// place of {file} in Run, or stands at its end).
	Input string `yaml:"input,omitempty" json:"input,omitempty" jsonschema:"enum=stdin,enum=argument,enum=file"`
	// Lives is for how long a process lives: a "turn" (default), after which it ends, or
	// the whole "session", in which a turn is one line of its standard input and the
	// answer one line of its output (or, where Output is "jsonl", the lines up to the
	// one that has an answer).
	Lives string `yaml:"lives,omitempty" json:"lives,omitempty" jsonschema:"enum=turn,enum=session"`
	// Output is what the program prints: "text" (default), "json" or "jsonl".
	Output string `yaml:"output,omitempty" json:"output,omitempty" jsonschema:"enum=text,enum=json,enum=jsonl"`
	// Answer is the JSON path (RFC 9535) of the answer, such as $.result; with jsonl it
	// is that of the last line that has it.
	Answer string `yaml:"answer,omitempty" json:"answer,omitempty"`
	// Network is "own" (default): a network of the trial's own where the system allows
	// that, in which there is the scripted backend and what the program starts itself; or
	// "shared": this machine's, for a program that needs a server which runs here.
	Network string `yaml:"network,omitempty" json:"network,omitempty" jsonschema:"enum=own,enum=shared"`
}

// SharedNetwork is a value of CommandDrive.Network and HTTPDrive.Network.
const SharedNetwork = "shared"

// HTTPDrive drives an HTTP application.
type HTTPDrive struct {
	// Process starts it; the application finds its port in PORT. Without Run it is
	// already there, at URL.
	Process `yaml:",inline"`
	Talk    `yaml:",inline"`
	Web     `yaml:",inline"`
	// URL is the base address of an application that is already there, on loopback.
	URL string `yaml:"url,omitempty" json:"url,omitempty"`
	// Network is that of an application that is started, as CommandDrive has it.
	Network string `yaml:"network,omitempty" json:"network,omitempty" jsonschema:"enum=own,enum=shared"`
}

// Web is how a turn becomes a request, and a response an answer.
type Web struct {
	// Health is a path that answers 200 once the application can be spoken to; default:
	// it listens.
	Health string `yaml:"health,omitempty" json:"health,omitempty"`
	// HealthTimeout is how long that may take; default 30s.
	HealthTimeout quantity.Duration `yaml:"health_timeout,omitempty" json:"health_timeout,omitempty"`
	// Request is the turn as the application takes it.
	Request HTTPRequest `yaml:"request" json:"request"`
	// Answer is the JSON path (RFC 9535) of the answer in the response, such as
	// $.reply; default: the body as text.
	Answer string `yaml:"answer,omitempty" json:"answer,omitempty"`
	// Session is the JSON path of a session's id in the response, which later requests
	// find as {{.Session}}. Cookies are kept anyway.
	Session string `yaml:"session,omitempty" json:"session,omitempty"`
}

// HTTPRequest is a request; path, headers and body are templates over the turn: .Turn
// (its text), .N (from 1), .Session, and json, which quotes a value.
type HTTPRequest struct {
	Method  string            `yaml:"method,omitempty" json:"method,omitempty"` // default POST
	Path    string            `yaml:"path" json:"path"`
	Headers map[string]string `yaml:"headers,omitempty" json:"headers,omitempty"`
	Body    string            `yaml:"body,omitempty" json:"body,omitempty"`
}

// ContainerDrive drives an HTTP application in a container.
type ContainerDrive struct {
	// Image is the container's image, or Build the folder of its Dockerfile, relative to
	// the scenario file's.
	Image string `yaml:"image,omitempty" json:"image,omitempty"`
	Build string `yaml:"build,omitempty" json:"build,omitempty"`
	// Port is the one that the application listens on in the container.
	Port    int `yaml:"port" json:"port" jsonschema:"minimum=1,maximum=65535"`
	Process `yaml:",inline"`
	Talk    `yaml:",inline"`
	Web     `yaml:",inline"`
	// Required makes it an error, and no skip, if there is no Docker daemon.
	Required bool `yaml:"required,omitempty" json:"required,omitempty"`
}

// CodingDrive drives the program of a real coding agent in a throw-away workspace.
type CodingDrive struct {
	// Agent is whose program it is: "claude" or "codex".
	Agent string `yaml:"agent" json:"agent" jsonschema:"enum=claude,enum=codex"`
	Talk  `yaml:",inline"`
	// Guard installs the stop guard as the agent's hook, with this policy.
	Guard string `yaml:"guard,omitempty" json:"guard,omitempty" jsonschema:"enum=balanced,enum=strict"`
	// Retries is how often the agent may repeat a call that failed, and a stream that
	// broke off; default: its own, with waits that grow to minutes.
	Retries *int `yaml:"retries,omitempty" json:"retries,omitempty" jsonschema:"minimum=0,maximum=10"`
	// Required makes it an error, and no skip, if the program is not installed.
	Required bool `yaml:"required,omitempty" json:"required,omitempty"`
}

// Talk is what the user says where the agent is somebody else's, and false where it is
// one of ours.
func (d *Drive) Talk() (*Talk, bool) {
	switch {
	case d.Function != nil:
		return &d.Function.Talk, true
	case d.Command != nil:
		return &d.Command.Talk, true
	case d.HTTP != nil:
		return &d.HTTP.Talk, true
	case d.Container != nil:
		return &d.Container.Talk, true
	case d.Coding != nil:
		return &d.Coding.Talk, true
	}
	return nil, false
}

// Restarts reports whether somebody else's agent can be killed and started again at a
// turn: whether it lives, from one turn to the next, in a process of the harness.
func (d *Drive) Restarts() bool {
	return d.Command != nil && d.Command.Lives == "session" || d.HTTP != nil && d.HTTP.URL == "" || d.Container != nil
}

// The end statuses of somebody else's agent.
const (
	AppDone        = "done"        // every turn was answered
	AppFailed      = "failed"      // the agent said itself that it failed
	AppCrashed     = "crashed"     // it went away in the middle of a turn
	AppTimeout     = "timeout"     // a turn took too long
	AppFlooded     = "flooded"     // it wrote more than it may
	AppBudget      = "budget"      // it made a call beyond its budget
	AppInterrupted = "interrupted" // the user pressed Ctrl-C
	AppError       = "error"       // it could not be driven at all
)

// checkTalk checks what a user says, and returns how that can end.
func (c *checker) checkTalk(at string, t *Talk) []string {
	if len(t.Turns) == 0 {
		c.add(at, "", "the user says nothing; write turns: with at least one text")
	}
	c.checkTree(at, "workspace", t.Files, nil)
	return AppStatuses()
}

// AppStatuses are the end statuses of somebody else's agent.
func AppStatuses() []string {
	return []string{AppDone, AppFailed, AppCrashed, AppTimeout, AppFlooded, AppBudget, AppInterrupted, AppError}
}
