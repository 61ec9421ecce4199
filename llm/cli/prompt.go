package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/llm"
)

// launch is one prepared invocation.
type launch struct {
	argv  []string
	dir   string
	env   []string
	stdin string // empty: nothing to read
}

const (
	promptPlaceholder = "{prompt}"
	filePlaceholder   = "{prompt_file}"
)

// prepare returns the invocation for a request. The caller must call cleanup, which removes the file of
// the prompt.
func (b *adapter) prepare(req llm.Request) (l launch, cleanup func(), err error) {
	cleanup = func() {}
	program := b.program()
	if len(program) == 0 {
		return l, cleanup, errors.New("no command is configured; configure the program to run")
	}
	if len(req.Tools) > 0 {
		return l, cleanup, errors.New("a request to a command-line agent cannot offer functions; the agent has its own tools")
	}
	if len(req.Messages) == 0 {
		return l, cleanup, errors.New("the request has no messages; give at least one")
	}
	model := req.Model
	if model == "" {
		model = b.cfg.Model
	}
	args := b.agent.arguments(b.cfg, model)
	prompt, system := renderPrompt(req, func(system string) bool {
		return b.agent.systemFlag != "" && b.fitsArgument(system)
	})
	if system != "" {
		args = append(args, b.agent.systemFlag, system)
	}
	if req.Session != nil {
		if err := b.agent.continues(req.Session.ID); err != nil {
			return l, cleanup, err
		}
		args = append(args, b.agent.resume(req.Session.ID)...)
	}
	args = append(args, b.agent.bounds(args, req)...)
	l = launch{argv: slices.Concat(program, args), dir: b.cfg.Dir, env: b.environment()}
	if b.agent.plain {
		cleanup, err = b.fillPlaceholders(&l, prompt)
		return l, cleanup, err
	}
	if b.agent.promptFlag != "" && b.fitsArgument(prompt) {
		l.argv = append(l.argv, b.agent.promptFlag, prompt)
		return l, cleanup, nil
	}
	if b.agent.stdinArg != "" {
		l.argv = append(l.argv, b.agent.stdinArg)
	}
	l.stdin = prompt
	return l, cleanup, nil
}

// environment returns the agent's environment.
func (b *adapter) environment() []string {
	own := slices.Concat(b.agent.permissions.env[b.cfg.Access], b.cfg.Env)
	if b.cfg.Closed {
		return own
	}
	return slices.Concat(os.Environ(), own) //nolint:forbidigo // the agent needs the user's own environment
}

// fitsArgument reports whether text can be a command-line argument: it is short, has no NUL and is not
// like a flag.
func (b *adapter) fitsArgument(text string) bool {
	return len(text) <= b.cfg.PromptLimit && !strings.ContainsRune(text, 0) && !strings.HasPrefix(text, "-")
}

// fillPlaceholders replaces the placeholders for the prompt in the user's command line.
func (b *adapter) fillPlaceholders(l *launch, prompt string) (cleanup func(), err error) {
	cleanup = func() {}
	argv := slices.Clone(l.argv)
	uses := func(p string) bool {
		return slices.ContainsFunc(argv[1:], func(arg string) bool { return strings.Contains(arg, p) })
	}
	var pairs []string
	if uses(promptPlaceholder) {
		if len(prompt) > b.cfg.PromptLimit || strings.ContainsRune(prompt, 0) {
			return cleanup, fmt.Errorf("the prompt of %d bytes cannot be an argument (limit %d); use %s, or no placeholder for standard input",
				len(prompt), b.cfg.PromptLimit, filePlaceholder)
		}
		pairs = append(pairs, promptPlaceholder, prompt)
	}
	if uses(filePlaceholder) {
		path, err := writePrompt(prompt)
		if err != nil {
			return cleanup, err
		}
		cleanup = func() { _ = os.Remove(path) }
		pairs = append(pairs, filePlaceholder, path)
	}
	l.argv = argv
	if pairs == nil {
		l.stdin = prompt
		return cleanup, nil
	}
	// In one pass, to leave placeholders within the prompt unchanged.
	fill := strings.NewReplacer(pairs...)
	for i := range argv[1:] {
		argv[i+1] = fill.Replace(argv[i+1])
	}
	return cleanup, nil
}

// writePrompt writes the prompt to a new temporary file that only this user can read.
func writePrompt(prompt string) (path string, err error) {
	f, err := os.CreateTemp("", "rehearse-prompt-*.txt")
	if err != nil {
		return "", fmt.Errorf("create a file for the prompt: %w", err)
	}
	_, err = f.WriteString(prompt)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("write the prompt to %s: %w", f.Name(), err), os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// renderPrompt returns the messages of a request as one text. If apart accepts the system text, it is
// returned separately.
func renderPrompt(req llm.Request, apart func(system string) bool) (prompt, system string) {
	var parts []string
	rest := make([]llm.Message, 0, len(req.Messages))
	for _, m := range req.Messages {
		if m.Role == llm.System || m.Role == llm.Developer {
			parts = append(parts, m.Content)
			continue
		}
		rest = append(rest, m)
	}
	system = strings.Join(parts, "\n\n")
	var b strings.Builder
	if system != "" && !apart(system) {
		if req.Session == nil { // otherwise the session begins with it
			b.WriteString(system + "\n\n")
		}
		system = ""
	}
	if len(rest) == 1 && rest[0].Role == llm.User {
		b.WriteString(rest[0].Content)
	} else {
		b.WriteString(renderConversation(rest))
	}
	if req.JSONMode {
		b.WriteString("\n\nAnswer with one JSON object and nothing else.")
	}
	return b.String(), system
}

func renderConversation(messages []llm.Message) string {
	names := map[llm.Role]string{llm.User: "User", llm.Assistant: "Assistant", llm.ToolRole: "Tool result"}
	blocks := make([]string, 0, len(messages))
	for _, m := range messages {
		name := names[m.Role]
		if name == "" {
			name = string(m.Role)
		}
		if id := m.Name + m.ToolCallID; id != "" {
			name += " (" + id + ")"
		}
		text := m.Content
		for _, call := range m.ToolCalls {
			text += fmt.Sprintf("\n[calls %s (%s) with %s]", call.Name, call.ID, call.Arguments)
		}
		blocks = append(blocks, name+":\n"+strings.TrimPrefix(text, "\n"))
	}
	return strings.Join(blocks, "\n\n")
}
