package agentfile

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// ApprovalMode decides about an action that no pattern allows or denies.
type ApprovalMode string

// The modes of approval.
const (
	// ApproveNever refuses the action. It is the default.
	ApproveNever ApprovalMode = "never"
	// ApproveAsk asks a person.
	ApproveAsk ApprovalMode = "ask"
	// ApproveAuto does the action.
	ApproveAuto ApprovalMode = "auto"
)

// ApprovalModes lists the modes.
func ApprovalModes() []string {
	return []string{string(ApproveAsk), string(ApproveAuto), string(ApproveNever)}
}

// Approval decides which of the actions shell, edit and those of MCP servers are done. A pattern is the name
// of an action with wildcards, and after a colon, if there is one, what it is done to: the whole command
// of shell, in which * is any text, or the path of edit, such as "shell:go test *", "edit:docs/**", "files.read_*".
type Approval struct {
	// Mode is "never", "ask" or "auto"; default "never".
	Mode ApprovalMode `yaml:"mode,omitempty" json:"mode,omitempty" jsonschema:"enum=never,enum=ask,enum=auto"`
	// Allow are the patterns of actions that are done without a question. A command that has
	// control characters of the shell only matches its own text.
	Allow []string `yaml:"allow,omitempty" json:"allow,omitempty"`
	// Deny are the patterns of actions that are refused, whatever Mode and Allow are. Those of shell match
	// each of the commands in a line, too.
	Deny []string `yaml:"deny,omitempty" json:"deny,omitempty"`
}

// Offers reports whether any action could be done.
func (a Approval) Offers() bool {
	return a.Mode == ApproveAsk || a.Mode == ApproveAuto || len(a.Allow) > 0
}

// With returns the approval with the mode of another one, if it has one, and the patterns of both.
func (a Approval) With(over Approval) Approval {
	if over.Mode != "" {
		a.Mode = over.Mode
	}
	a.Allow, a.Deny = slices.Concat(a.Allow, over.Allow), slices.Concat(a.Deny, over.Deny)
	return a
}

// Check returns an error for an unknown mode or an invalid pattern.
func (a Approval) Check() error {
	if a.Mode != "" && !slices.Contains(ApprovalModes(), string(a.Mode)) {
		return fmt.Errorf("%q is not a mode of approval; use %s", clip(string(a.Mode)), strings.Join(ApprovalModes(), ", "))
	}
	for _, pattern := range slices.Concat(a.Allow, a.Deny) {
		name, _, _ := strings.Cut(pattern, ":")
		if _, err := path.Match(name, ""); err != nil || strings.TrimSpace(name) == "" {
			return fmt.Errorf("the pattern %q is not valid; write an action and what it is done to, such as \"shell:go test *\"", clip(pattern))
		}
	}
	return nil
}

// approval validates the approval of the front matter.
func (l *loader) approval(f *Front, a *Agent) {
	if f.Approve == nil {
		return
	}
	a.Approval = *f.Approve
	patterns := Approval{Allow: f.Approve.Allow, Deny: f.Approve.Deny} // the decoder checks the mode
	if err := patterns.Check(); err != nil {
		l.wrong("approve", err.Error(), "")
	}
}
