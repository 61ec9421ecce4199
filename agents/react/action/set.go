package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// Options configure actions.
type Options struct {
	// Workspace is the folder of the files; required.
	Workspace string
	// Gate decides about the actions shell and edit, which are only offered if its approval allows any. Its
	// approval is added to that of the agent.
	Gate Gate
	// Wrapper precedes the command lines of shell and of the agent's own actions, such as a sandbox. It may be
	// nil.
	Wrapper []string
	// Servers reports that the caller adds the tools of the agent's MCP servers.
	Servers bool
	// Clock times commands; default: the machine's. Commands run in real time, so another
	// clock is for tests only.
	Clock clock.Clock
}

// set implements Set.
type set struct {
	folder    string // absolute, without links
	clock     clock.Clock
	custom    []agentfile.Action
	protected []string
	gate      Gate
	wrapper   []string
	approved  []standardAction // that are offered
	writing   sync.Mutex       // one write at a time: they share the name of the partial file
}

// New returns the actions of an agent on a workspace. It fails if the folder cannot be
// opened.
func New(a *agentfile.Agent, o Options) (Set, error) {
	if o.Workspace == "" {
		return nil, errors.New("open the workspace: no folder is given; name one")
	}
	folder, err := filepath.Abs(o.Workspace)
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder)
	}
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w; make the folder first", err)
	}
	if len(a.Servers) > 0 && !o.Servers {
		return nil, errors.New("the agent has MCP servers (mcp:), which cannot be used here")
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	defer root.Close()
	s := &set{folder: folder, clock: o.Clock, wrapper: o.Wrapper, custom: slices.Clone(a.Actions)}
	s.gate = Gate{Approval: a.Approval.With(o.Gate.Approval), Ask: o.Gate.Ask}
	if err := s.gate.Approval.Check(); err != nil {
		return nil, err
	}
	for _, offered := range approvedActions {
		isIt := func(c agentfile.Action) bool { return c.ID == offered.id }
		if s.gate.Approval.Offers() && !slices.ContainsFunc(a.Actions, isIt) {
			s.approved = append(s.approved, offered)
		}
	}
	if s.clock == nil {
		s.clock = clock.Real()
	}
	for _, c := range s.custom {
		for _, arg := range c.Command {
			if info, err := root.Stat(filepath.FromSlash(arg)); err == nil && info.Mode().IsRegular() {
				s.protected = append(s.protected, clean(arg))
			}
		}
	}
	return s, nil
}

// work is one running action.
type work struct {
	*set
	ctx           context.Context
	root          *os.Root
	read, written []string
}

// standardAction is a standard action that works on files.
type standardAction struct {
	id, takes, does string
	do              func(w *work, input string) (string, error)
}

var standardActions = []standardAction{
	{
		"analyze", "{target, focus}",
		"facts about a file, a folder or \"full\": size, lines, languages; focus: " + strings.Join(focusNames(), ", ") + ", or words to look for",
		do((*work).analyze),
	},
	{
		"search", "{query, scope}",
		"lines that match words or a regular expression; scope: a file, a folder, a pattern such as src/**/*.py, or \"full\"",
		do((*work).search),
	},
	{
		"generate", "{type, spec, path}",
		"writes a file; spec is its whole content, type what it is, such as markdown or json; path may be left out",
		do((*work).generate),
	},
	{
		"validate", "{assertion, data}",
		"decides an assertion about a file or text: " + strings.Join(assertionForms(), "; "),
		do((*work).validate),
	},
	{
		"transform", "{input, from, to, output}",
		"converts a file or text between " + strings.Join(formatNames(), ", ") + "; output: the file to write, if any",
		do((*work).transform),
	},
	{"compare", "{a, b, criteria}", "compares two files or texts by " + strings.Join(criteriaNames(), ", "), do((*work).compare)},
}

// engineActions are described here and run by the engine.
var engineActions = []standardAction{
	{id: RequestInfo, takes: "{question, context}", does: "asks a person for what is missing"},
	{id: Delegate, takes: "{agent_id, task}", does: "hands a part of the task to another agent and waits for its result"},
	{id: Escalate, takes: "{reason, context}", does: "hands the task to a person and ends"},
}

// do converts a method with a typed input into an action.
func do[T any](method func(*work, T) (string, error)) func(*work, string) (string, error) {
	return func(w *work, input string) (string, error) {
		var in T
		if err := Decode(input, &in); err != nil {
			return "", fail(RuleBadInput, "%v", err)
		}
		return method(w, in)
	}
}

// Decode decodes the input of an action, YAML, into the struct that into points to. It is
// strict; the error has the position of each problem. An empty input is {}.
func Decode(input string, into any) error {
	_, found := decode(input, into)
	return found.Err()
}

func decode(input string, into any) (*yamlsrc.Document, yamlsrc.Diagnostics) {
	if strings.TrimSpace(input) == "" {
		input = "{}"
	}
	// The last line may lack its line break, which is part of a block text.
	return yamlsrc.Decode("input", []byte(strings.TrimSuffix(input, "\n")+"\n"), into)
}

// Do implements Set.
func (s *set) Do(ctx context.Context, id, input string) (Result, error) {
	if err := clock.Err(ctx); err != nil {
		return Result{}, err
	}
	root, err := os.OpenRoot(s.folder)
	if err != nil {
		return result(nil, "", fail(ruleFileSystem, "the workspace cannot be opened: %v", sanitize.WithoutPath(err))), nil
	}
	defer root.Close()
	w := &work{set: s, ctx: ctx, root: root}
	text, err := w.dispatch(id, input)
	if ended := clock.Err(ctx); ended != nil {
		return Result{}, ended
	}
	return result(w, text, err), nil
}

func (w *work) dispatch(id, input string) (string, error) {
	is := func(a standardAction) bool { return a.id == id }
	if i := slices.IndexFunc(standardActions, is); i >= 0 {
		return standardActions[i].do(w, input)
	}
	if i := slices.IndexFunc(w.approved, is); i >= 0 {
		return w.approved[i].do(w, input)
	}
	if slices.ContainsFunc(engineActions, is) {
		return "", fail(ruleEngine, "%s is done by the engine, not on the workspace", id)
	}
	if i := slices.IndexFunc(w.custom, func(a agentfile.Action) bool { return a.ID == id }); i >= 0 {
		return w.command(w.custom[i], input)
	}
	known := w.ids()
	if near := suggest.Nearest(id, known); near != "" {
		return "", fail(RuleUnknownAction, "there is no action %q (did you mean %q?)", clip(id), near)
	}
	return "", fail(RuleUnknownAction, "there is no action %q; there are %s", clip(id), strings.Join(known, ", "))
}

// standard returns the actions that the agent file does not define.
func (s *set) standard() []standardAction {
	return slices.Concat(standardActions, s.approved, engineActions)
}

// ids returns the names of all actions.
func (s *set) ids() []string {
	var all []string
	for _, a := range s.standard() {
		all = append(all, a.id)
	}
	for _, a := range s.custom {
		all = append(all, a.ID)
	}
	return all
}

// Describe implements Set.
func (s *set) Describe() string {
	var b strings.Builder
	for _, a := range s.standard() {
		fmt.Fprintf(&b, "- %s %s: %s\n", a.id, a.takes, a.does)
	}
	for _, a := range s.custom {
		names := make([]string, len(a.Inputs))
		for i, in := range a.Inputs {
			if names[i] = in.Name; !in.Required {
				names[i] += " (optional)"
			}
		}
		fmt.Fprintf(&b, "- %s {%s}: %s\n", a.ID, strings.Join(names, ", "), a.Description)
		for _, in := range a.Inputs {
			if in.Description != "" {
				fmt.Fprintf(&b, "    %s: %s\n", in.Name, in.Description)
			}
		}
	}
	return b.String()
}
