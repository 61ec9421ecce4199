// Package action does what a ReAct agent asks for: the standard actions of
// document 003 on the files of one workspace folder, and an agent's own actions as
// commands. Nothing leaves the workspace, also not through a symbolic link.
//
// What an agent may do with files is bounded: at most 4 MiB of a file, 10,000
// files and 64 MiB in one look at a folder, and 8 KiB of observation, which says
// how much more there would be. Looks at folders pass over .git, node_modules and
// their like, and do not follow links. Nothing is written below .git, to files that other
// programs run by themselves (.github, .claude, .vscode, .husky, .envrc and the like), to
// an agent file, over a file that one of the agent's commands names, or through a folder
// that is a link, so that a model cannot change what will be run.
//
// A custom action is a program of the agent's author. It works in the workspace
// folder as a user's program does, and no further wall is around it: what the
// model controls are the values of its inputs, each one argument; package agentfile
// refuses an input inside of code that an interpreter runs. None may begin with "-", hold the path element "..", begin with "/" (also
// behind "@" or "="), be a link that leads out, or hold "file:". Other forms in which
// a program may take a text for a path are not seen. What a command leaves in its
// process group is killed; a program that left the group with the output is told of,
// one that closed the output, too, cannot be seen.
package action

import "context"

// The standard actions. The last three are the engine's own: they need a person
// or another agent.
const (
	Analyze     = "analyze"
	Search      = "search"
	Generate    = "generate"
	Validate    = "validate"
	Transform   = "transform"
	Compare     = "compare"
	RequestInfo = "request_info"
	Delegate    = "delegate"
	Escalate    = "escalate"
)

// The rules that Result.Rule names where an action failed.
const (
	RuleUnknownAction = "unknown-action"
	RuleEngine        = "engine-action"     // one of the three that the engine does
	RuleBadInput      = "bad-input"         // unknown or missing key, value out of range
	RuleOutside       = "outside-workspace" // .., an absolute path, a link that leads out
	RuleNoSuchFile    = "no-such-file"
	RuleNotAFile      = "not-a-file" // a folder, device or pipe
	RuleBinary        = "binary-file"
	RuleTooLarge      = "too-large"    // a file
	RuleTooMany       = "too-many"     // files, or bytes in all of them
	RuleProtected     = "protected"    // may be read and not written
	RuleFileSystem    = "file-system"  // any other error of the file system
	RuleBadContent    = "bad-content"  // text that is not what it is said to be
	RuleUndecidable   = "undecidable"  // an assertion that the engine cannot decide
	RuleNoProgram     = "no-program"   // a command that cannot be started
	RuleTimeout       = "timeout"      // of a command
	RuleFlood         = "output-flood" // of a command
	RuleKilled        = "killed"       // a command that a signal ended
	RuleLeft          = "left-program" // a command whose child left its group and held its output
)

// Result is what an action came to.
type Result struct {
	// Observation is what the agent is told: facts, one a line; at most about 8 KiB,
	// without control characters.
	Observation string
	// Failed says that the action could not be done; Observation says why, and Rule
	// is its name. An assertion that is false and a command that exits with another
	// status than 0 were done.
	Failed bool
	Rule   string
	// Read and Written are paths in the workspace, with slashes, sorted. Of what
	// commands touch only the files that their inputs name are known.
	Read, Written []string
}

// Set does actions. It is safe for concurrent use.
type Set interface {
	// Do does an action with an input as the agent wrote it (YAML). The error is only
	// that of a ctx that ended.
	Do(ctx context.Context, id, input string) (Result, error)
	// Describe says, for the agent's model, which actions there are and what they
	// take.
	Describe() string
}
