package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// assistant is the agent in one conversation.
type assistant struct {
	options
	model   *model
	out     *json.Encoder
	stdout  io.Writer
	history []message
	id      string // id of the session, if there are several
}

// message is a message of the conversation with the model, in a neutral form.
type message struct {
	Role string `json:"role"` // user, assistant or tool
	Text string `json:"text"`
	// Call is the tool call that an assistant message requests or a tool message answers.
	Call *call `json:"call,omitempty"`
}

// call is a tool call.
type call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// maxRounds limits the tool calls of one turn.
const maxRounds = 10

// answer answers a turn: it calls the model, runs its tool calls, and prints the answer.
func (a *assistant) answer(ctx context.Context, text string) error {
	if err := a.misbehave(before); err != nil {
		return err
	}
	a.history = append(a.history, message{Role: "user", Text: text})
	for range maxRounds {
		reply, err := a.model.ask(ctx, a.history)
		if err != nil {
			return &exitError{3, err}
		}
		if err := a.misbehave(between); err != nil {
			return err
		}
		a.history = append(a.history, reply)
		if reply.Call == nil {
			return a.print(reply.Text)
		}
		a.emit(map[string]any{"type": "tool", "name": reply.Call.Name})
		a.history = append(a.history, message{Role: "tool", Text: runTool(reply.Call), Call: reply.Call})
	}
	return &exitError{4, fmt.Errorf("the model asked for tools %d times and did not answer", maxRounds)}
}

// runTool runs a tool call and returns its result. There is one tool.
func runTool(c *call) string {
	var file struct{ Path, Text string }
	switch err := json.Unmarshal([]byte(c.Arguments), &file); {
	case c.Name != "write_file":
		return fmt.Sprintf("there is no tool %q; there is write_file", c.Name)
	case err != nil:
		return "the arguments cannot be read: " + err.Error()
	case !filepath.IsLocal(file.Path):
		return "the path leads out of the folder"
	}
	if err := os.WriteFile(file.Path, []byte(file.Text), 0o600); err != nil {
		return err.Error()
	}
	return "written"
}

// emit prints an event if the output has events.
func (a *assistant) emit(event map[string]any) {
	if a.output == "jsonl" {
		_ = a.out.Encode(event)
	}
}

// print prints the answer.
func (a *assistant) print(text string) error {
	switch a.output {
	case "json":
		return a.out.Encode(map[string]any{"answer": text, "messages": len(a.history)})
	case "http":
		return a.out.Encode(map[string]any{"session": a.id, "answer": text, "messages": len(a.history)})
	case "jsonl":
		a.emit(map[string]any{"type": "answer", "result": text})
		return nil
	default:
		_, err := fmt.Fprintln(a.stdout, text)
		return err
	}
}

// memory returns the file of a conversation that continues in another process.
func (a *assistant) memory() string {
	return filepath.Join(os.Getenv("HOME"), "conversation"+a.id+".json")
}

// load reads the conversation of earlier processes.
func (a *assistant) load() error {
	data, err := os.ReadFile(a.memory())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(data, &a.history)
}

// save writes the conversation for later processes.
func (a *assistant) save() error {
	data, err := json.Marshal(a.history)
	if err != nil {
		return err
	}
	return os.WriteFile(a.memory(), data, 0o600)
}
