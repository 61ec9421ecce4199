// Package action runs the actions of a ReAct agent: the standard actions of document 003
// on the files of one workspace folder, and an agent's own actions as commands. No action
// leaves the workspace, not through a symbolic link either.
//
// The limits are 4 MiB for a file, 10,000 files and 64 MiB for a scope, and 8 KiB for an observation,
// which reports how much was cut. Scopes skip .git, node_modules and similar folders, and do not follow
// links. So that a model cannot change code that will be run, nothing is written below .git, to files
// that other programs run automatically (.github, .claude, .vscode, .husky, .envrc and the like), to
// agent files, to files in the commands of the agent, or through a folder that is a link.
//
// A custom action is a program of the author of the agent. It runs in the workspace folder without a
// sandbox. The model only controls the values of its inputs, which are arguments; package agentfile
// rejects inputs in code that an interpreter runs. A value must not begin with "-", contain the path
// element "..", begin with "/" (also after "@" or "="), be a link that leads out, or contain "file:".
// Other forms that a program may interpret as a path are not detected. Processes that a command leaves
// in its process group are killed. A program that left the group is reported if it keeps the output
// open; otherwise it is not detected.
package action

import "context"

// The standard actions that the engine runs itself.
const (
	RequestInfo = "request_info"
	Delegate    = "delegate"
	Escalate    = "escalate"
)

// The rules in Result.Rule for an action that failed.
const (
	RuleUnknownAction = "unknown-action"
	ruleEngine        = "engine-action"     // one of the three that the engine runs
	RuleBadInput      = "bad-input"         // unknown or missing key, value out of range
	ruleOutside       = "outside-workspace" // .., an absolute path, a link that leads out
	ruleNoSuchFile    = "no-such-file"
	ruleNotAFile      = "not-a-file" // a folder, device or pipe
	ruleBinary        = "binary-file"
	ruleTooLarge      = "too-large"    // a file
	ruleTooMany       = "too-many"     // files, or bytes in all of them
	ruleProtected     = "protected"    // may be read and not written
	ruleFileSystem    = "file-system"  // any other error of the file system
	ruleBadContent    = "bad-content"  // text that is not of the given format
	ruleUndecidable   = "undecidable"  // an assertion that the engine cannot decide
	ruleNoProgram     = "no-program"   // a command that cannot be started
	ruleTimeout       = "timeout"      // of a command
	ruleFlood         = "output-flood" // of a command
	ruleKilled        = "killed"       // a command that a signal ended
	ruleNotApproved   = "not-approved" // an action that the approval refuses
	ruleNoMatch       = "no-match"     // a text that does not occur once in the file to edit
	ruleLeft          = "left-program" // a command whose child left its group and holds its output open
)

// Result is the result of an action.
type Result struct {
	// Observation is the text for the agent: facts, one a line; at most about 8 KiB,
	// without control characters.
	Observation string `json:"observation,omitempty"`
	// Failed is true if the action was not possible; then Observation has the reason, and Rule
	// its name. A false assertion or a command with another exit status than 0 is not a failure.
	Failed bool   `json:"failed,omitempty"`
	Rule   string `json:"rule,omitempty"`
	// Read and Written are paths in the workspace, with slashes, sorted. For commands they
	// only contain the files that the inputs name.
	Read    []string `json:"read,omitempty"`
	Written []string `json:"written,omitempty"`
}

// Set runs actions. It is safe for concurrent use.
type Set interface {
	// Do runs an action with an input in YAML. It only returns an error if ctx has ended.
	Do(ctx context.Context, id, input string) (Result, error)
	// Describe returns the list of actions and their inputs, for the agent's model.
	Describe() string
	// Declare returns the same list for a model that calls tools.
	Declare() []Declaration
}
