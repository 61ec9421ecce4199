package incident

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/llm"
)

// readCodex reads rollouts of Codex, as in ~/.codex/sessions. A line is an item of the conversation over
// OpenAI's Responses, or an event. Each file is a session.
func readCodex(s *source) []Conversation {
	var all []Conversation
	var c *codexSession
	for i, d := range s.docs {
		if i == 0 || s.docs[i-1].file != d.file {
			if c != nil && len(c.Turns) > 0 {
				all = append(all, c.close())
			}
			c = &codexSession{Conversation: Conversation{File: d.file, Coding: "codex", Agent: "Codex"}, from: s}
		}
		if d.value == nil {
			c.skip()
			continue
		}
		c.add(d)
	}
	if c != nil && len(c.Turns) > 0 {
		all = append(all, c.close())
	}
	return all
}

// codexSession collects a rollout.
type codexSession struct {
	Conversation
	gaps
	from    *source
	model   string
	answer  content // items of the answer that is not complete
	began   time.Time
	usage   *llm.Usage
	ignored map[string]bool // kinds of items that a script does not have
	failed  bool            // the error of the current task was read
}

func (c *codexSession) add(d document) {
	p, at := d.at("payload"), d.at("timestamp").time()
	switch d.at("type").text() {
	case "session_meta":
		if c.ID == "" {
			c.ID, c.Folder, c.Began = p.at("id").text(), p.at("cwd").text(), at
		}
	case "turn_context":
		c.model = p.at("model").text()
	case "response_item":
		c.item(p, at)
	case "token_usage_record":
		c.tokens(d, p.at("usage"), at)
	case "event_msg":
		c.event(d, p, at)
	case "compacted":
		c.note(compactedNote)
	}
}

// item reads an item of the conversation.
func (c *codexSession) item(p *value, at time.Time) {
	kind := p.at("type").text()
	role := p.at("role").text()
	switch {
	case kind == "message" && role == "user":
		c.end(at)
		c.user(p, at)
	case kind == "message" && role != "assistant":
		c.end(at)
	case kind == "function_call_output", kind == "custom_tool_call_output":
		c.end(at)
		c.result(&c.Conversation, p.at("call_id").text(), at)
	case kind == "message":
		read := contentOf(p)
		c.answer.texts = append(c.answer.texts, read.text())
	case kind == "reasoning":
		for _, part := range p.at("summary").list() {
			c.answer.thinking = append(c.answer.thinking, part.at("text").text())
		}
	case kind == "function_call":
		c.answer.calls = append(c.answer.calls, callOf(p))
	case kind == "custom_tool_call":
		raw, _ := json.Marshal(map[string]string{"input": p.at("input").text()}) // strings are valid in JSON
		c.answer.calls = append(c.answer.calls, llm.ToolCall{
			ID: p.at("call_id").text(), Name: p.at("name").text(), Arguments: string(raw),
		})
	case kind == "local_shell_call":
		c.answer.calls = append(c.answer.calls, llm.ToolCall{
			ID: p.at("call_id").text(), Name: "local_shell", Arguments: p.at("action").words(),
		})
	default:
		c.ignore(kind)
	}
	if kind == "message" && role == "assistant" || len(c.answer.calls) > 0 {
		c.answered(c.waiting, c.answer.calls)
	}
	if c.began.IsZero() {
		c.began = at
	}
}

// ignore notes a kind of item that is left out.
func (c *codexSession) ignore(kind string) {
	if c.ignored == nil {
		c.ignored = map[string]bool{}
	}
	if !c.ignored[kind] {
		c.ignored[kind] = true
		c.Notes = append(c.Notes, fmt.Sprintf("Items of the type %q are left out.", kind))
	}
}

// user reads a message of the user. Codex sends its own notes in the same role, within XML tags.
func (c *codexSession) user(p *value, at time.Time) {
	var texts []string
	for _, part := range p.at("content").list() {
		text := strings.TrimSpace(part.at("text").text())
		own := strings.HasPrefix(text, "<environment_context>") || strings.HasPrefix(text, "<user_instructions>") ||
			strings.HasPrefix(text, "<turn_aborted>") || strings.HasPrefix(text, "# AGENTS.md instructions")
		if text != "" && !own {
			texts = append(texts, text)
		}
	}
	if len(texts) > 0 {
		c.asked(&c.Conversation, at)
		c.Users = append(c.Users, strings.Join(texts, "\n"))
	}
}

// event reads the events that the items do not contain.
func (c *codexSession) event(d document, p *value, at time.Time) {
	switch p.at("type").text() {
	case "token_count":
		// Also in versions that write a token_usage_record before it, when the answer is complete already.
		c.tokens(d, p.at("info", "last_token_usage"), at)
	case "turn_aborted":
		c.note("The user interrupted the agent, which the scenario does not repeat.")
	case "task_started":
		c.failed = false
	case "task_complete":
		c.failure(p.at("error"), at)
	case "error":
		c.failure(p, at)
	case "stream_error":
		c.note("Failed attempts that Codex repeated are left out.")
	}
}

// failure adds a call that failed, once for each task.
func (c *codexSession) failure(v *value, at time.Time) {
	if v == nil || c.failed {
		return
	}
	c.end(at)
	c.failed = true
	t := Turn{Began: at, Ended: at, Missing: true, Failure: codexFailure(v), asked: len(c.Users)}
	t.Reply.Model = c.model
	c.Turns = append(c.Turns, t)
	c.answered(true, nil)
}

var (
	// codexStatus matches the status in an error of Codex.
	codexStatus = lazyregexp.New(`^(?:unexpected|exceeded retry limit, last) status:? ([45]\d\d)\b`)
	// codexMessage matches the message of the provider in one.
	codexMessage = lazyregexp.New(`^unexpected status [^:]*: (.*), url: `)
)

// codexFailure reads the error of a task. Codex names the status except that of two: it shows an answer with 400 as it is, and has
// words of its own for 500.
func codexFailure(v *value) *Failure {
	info, text := v.at("codex_error_info"), v.at("message").text()
	f := &Failure{Message: text}
	for _, details := range info.object() { // one, by the kind of the error
		f.Status = details.at("http_status_code").int()
	}
	if at := codexStatus().FindStringSubmatch(text); at != nil && f.Status == 0 {
		f.Status, _ = strconv.Atoi(at[1]) // three digits
	}
	answer, isJSON := v.at("message").nested()
	switch {
	case f.Status != 0:
		f.Message = ""
		if at := codexMessage().FindStringSubmatch(text); at != nil {
			f.Message = at[1]
		}
	case info.text() == "internal_server_error":
		f.Status, f.Message = http.StatusInternalServerError, ""
	case isJSON && answer.at("error", "message") != nil:
		f.Status, f.Message = http.StatusBadRequest, answer.at("error", "message").text()
	}
	return f
}

// tokens ends an answer with its usage.
func (c *codexSession) tokens(d document, u *value, at time.Time) {
	if u == nil || len(c.answer.texts)+len(c.answer.calls) == 0 {
		return
	}
	n := counts{from: c.from, document: d}
	c.usage = n.usage(n.of(u, "input_tokens"), n.of(u, "cached_input_tokens"), n.of(u, "cache_write_input_tokens"),
		n.of(u, "output_tokens"), n.of(u, "reasoning_output_tokens"))
	c.end(at)
}

// end completes the current answer, if there is one.
func (c *codexSession) end(at time.Time) {
	if len(c.answer.texts)+len(c.answer.calls) > 0 {
		t := Turn{Began: c.began, Ended: at, asked: len(c.Users)}
		t.answer(c.answer, "")
		t.Reply.Model, t.Reply.Usage = c.model, c.usage
		c.Turns = append(c.Turns, t)
		c.answer, c.usage = content{}, nil
	}
	c.began = at
}

// close completes the session.
func (c *codexSession) close() Conversation {
	c.end(c.began)
	c.gaps.close(&c.Conversation)
	c.derive()
	c.Derived = false
	c.Notes = append(c.Notes, "A session has neither the files of the workspace nor the agent's settings.")
	return c.Conversation
}
