package action

import (
	"context"
	"path"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/internal/glob"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
)

// Request is an action that needs an approval.
type Request struct {
	// Action is the name of the action.
	Action string
	// Subject is what it is done to: the command of shell, the path of edit, the arguments of a tool.
	Subject string
	// Detail describes the change; may be empty.
	Detail string
}

// Approver asks a person whether an action may be done.
type Approver func(ctx context.Context, r Request) bool

// Gate decides about actions that need an approval. The zero value refuses all.
type Gate struct {
	Approval agentfile.Approval
	// Ask is used in the mode "ask"; nil: there is nobody to ask.
	Ask Approver
}

// ruling is a decision without a person.
type ruling int

const (
	refused ruling = iota
	asked
	allowed
)

// judge decides about an action by the mode and the patterns.
func judge(a agentfile.Approval, r Request) (ruling, string) {
	for _, pattern := range a.Deny {
		if matchesDenied(pattern, r) {
			return refused, "the pattern " + clip(pattern) + " denies it"
		}
	}
	for _, pattern := range a.Allow {
		if matchesAllowed(pattern, r) {
			return allowed, ""
		}
	}
	switch a.Mode {
	case agentfile.ApproveAuto:
		return allowed, ""
	case agentfile.ApproveAsk:
		return asked, ""
	default:
		return refused, "no pattern allows it"
	}
}

// control has the characters that can put several commands into one, or a command into a text.
const control = "\n\r;&|`$<>(){}\\"

func matchesAllowed(pattern string, r Request) bool {
	name, subject, limited := strings.Cut(pattern, ":")
	if ok, err := path.Match(name, r.Action); !ok || err != nil {
		return false
	}
	switch {
	case !limited || subject == r.Subject:
		return true
	case r.Action == editAction:
		p, err := glob.Compile(subject)
		return err == nil && p.Match(r.Subject)
	case r.Action == shellAction && strings.ContainsAny(r.Subject, control):
		return false
	}
	return like(subject, r.Subject)
}

// matchesDenied reports whether a pattern denies a request, or a part of its command.
func matchesDenied(pattern string, r Request) bool {
	if matchesAllowed(pattern, r) {
		return true
	}
	name, subject, limited := strings.Cut(pattern, ":")
	if ok, err := path.Match(name, r.Action); !ok || err != nil || !limited || r.Action != shellAction {
		return false
	}
	for part := range strings.FieldsFuncSeq(r.Subject, func(c rune) bool { return strings.ContainsRune(control, c) }) {
		if like(subject, strings.TrimSpace(part)) {
			return true
		}
	}
	return like(subject, r.Subject)
}

// like reports whether a text matches a pattern in which * is any text.
func like(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		_, rest, ok := strings.Cut(text, part)
		if !ok {
			return false
		}
		text = rest
	}
	return true
}

// Approve returns nil if an action may be done, and otherwise a failure for the observation.
func (g Gate) Approve(ctx context.Context, r Request) error {
	v, why := judge(g.Approval, r)
	switch {
	case v == allowed:
		return nil
	case v == refused:
		return fail(ruleNotApproved, "%s is not approved: %s", clip(r.Action), why)
	case g.Ask == nil:
		return fail(ruleNotApproved, "%s is not approved: there is nobody to ask, as this is not a terminal", clip(r.Action))
	case !g.Ask(ctx, r):
		return fail(ruleNotApproved, "%s is not approved: the person refused it", clip(r.Action))
	}
	return nil
}
