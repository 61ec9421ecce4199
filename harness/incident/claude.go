package incident

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/llm"
)

// maxKnownFile limits a workspace file that a scenario contains, in bytes.
const maxKnownFile = 64 << 10

// readClaude reads sessions of Claude Code, as in ~/.claude/projects, written by versions 1 and 2. A line is a
// message; the blocks of one answer have a line each, with the same message id.
func readClaude(s *source) []Conversation {
	sessions := map[string]*claudeSession{}
	var order []*claudeSession
	var c *claudeSession // of the line before
	for _, d := range s.docs {
		id := d.at("sessionId").text()
		if d.value == nil && c != nil && c.last == d.file {
			c.skip()
		}
		if id == "" {
			continue
		}
		c = sessions[id]
		if c == nil {
			c = &claudeSession{
				Conversation: Conversation{ID: id, File: d.file, Coding: "claude", Agent: "Claude Code", Files: map[string]string{}},
				from:         s, at: map[string]int{}, answers: map[int]*claudeAnswer{}, seen: map[string]bool{}, touched: map[string]bool{},
				agents: map[string]bool{},
			}
			sessions[id] = c
			order = append(order, c)
		}
		c.last = d.file
		if !slices.Contains(c.parts, d.file) {
			c.parts = append(c.parts, d.file)
		}
		c.add(d)
	}
	var all []Conversation
	for _, c := range order {
		if len(c.Turns) > 0 {
			c.close()
			all = append(all, c.Conversation)
		}
	}
	return all
}

// claudeSession collects a session.
type claudeSession struct {
	Conversation
	gaps
	from      *source
	last      string                // file of the last line
	at        map[string]int        // index of a turn by the id of its answer
	answers   map[int]*claudeAnswer // by the indices of their turns
	seen      map[string]bool       // lines by uuid: a resumed session repeats them
	touched   map[string]bool       // files that are no longer as they were at the start
	agents    map[string]bool       // the subagents that were called, and whether the files have their calls
	subagents int
}

// claudeAnswer is the content of an answer, from all its lines.
type claudeAnswer struct {
	content
	stop string
}

func (c *claudeSession) add(d document) {
	if id := d.at("uuid").text(); id != "" {
		if c.seen[id] {
			return
		}
		c.seen[id] = true
	}
	if c.Folder == "" {
		c.Folder = d.at("cwd").text()
	}
	if c.Began.IsZero() {
		c.Began = d.at("timestamp").time()
	}
	if d.at("isSidechain").words() == "true" {
		c.agents[d.at("agentId").text()] = true
	}
	switch d.at("type").text() {
	case "user":
		c.user(d)
	case "assistant":
		c.assistant(d)
	case "system":
		if d.at("subtype").text() == "compact_boundary" {
			c.note(compactedNote)
		}
	}
}

// user reads a message of the user, or results of tools.
func (c *claudeSession) user(d document) {
	c.file(d.at("toolUseResult"))
	if id := d.at("toolUseResult", "agentId").text(); id != "" && !c.agents[id] {
		c.agents[id] = false
	}
	read, at := contentOf(d.at("message")), d.at("timestamp").time()
	for _, r := range read.results {
		c.result(&c.Conversation, r.ToolCallID, at)
	}
	if d.at("isMeta").words() == "true" || d.at("isSidechain").words() == "true" || d.at("isCompactSummary").words() == "true" {
		return
	}
	text := strings.TrimSpace(read.text())
	if len(read.results) > 0 || text == "" || strings.HasPrefix(text, "<command-") || strings.HasPrefix(text, "<local-command-") {
		return
	}
	if strings.HasPrefix(text, "[Request interrupted by user") {
		c.note("The user interrupted the agent, which the scenario does not repeat.")
		return
	}
	if len(read.unread) > 0 {
		c.note("Images of the user are left out.")
	}
	c.asked(&c.Conversation, at)
	c.Users = append(c.Users, text)
}

// assistant reads a block of an answer.
func (c *claudeSession) assistant(d document) {
	m := d.at("message")
	sidechain, asked := d.at("isSidechain").words() == "true", len(c.Users)
	if sidechain {
		asked = 0
	}
	switch {
	case d.at("isApiErrorMessage").words() == "true":
		at := d.at("timestamp").time()
		c.Turns = append(c.Turns, Turn{Began: at, Ended: at, Missing: true, Failure: claudeFailure(d), asked: asked})
		c.answered(true, nil)
		return
	case m.at("model").text() == "<synthetic>":
		return // words of the program without a call, such as "No response requested."
	case sidechain:
		c.subagents++
	}
	id := m.at("id").text()
	i, known := c.at[id]
	if !known || id == "" {
		i = len(c.Turns)
		c.at[id] = i
		c.Turns = append(c.Turns, Turn{Began: d.at("timestamp").time(), asked: asked})
		c.answers[i] = &claudeAnswer{}
	}
	t, a := &c.Turns[i], c.answers[i]
	t.Ended = d.at("timestamp").time()
	read := contentOf(m)
	a.texts, a.thinking = append(a.texts, read.texts...), append(a.thinking, read.thinking...)
	a.calls, a.unread = append(a.calls, read.calls...), append(a.unread, read.unread...)
	c.answered(!known, read.calls)
	a.stop = m.at("stop_reason").text()
	t.Reply.Model = m.at("model").text()
	if u := m.at("usage"); u != nil {
		n := counts{from: c.from, document: d}
		cached, written := n.of(u, "cache_read_input_tokens"), n.of(u, "cache_creation_input_tokens")
		t.Reply.Usage = n.usage(n.of(u, "input_tokens")+cached+written, cached, written, n.of(u, "output_tokens"), 0)
	}
}

// claudeFailure reads the error of a call. The message of the provider is in the JSON of its answer, or follows its status;
// the program has words of its own for other errors, and adds some to those of the server.
func claudeFailure(d document) *Failure {
	shown := contentOf(d.at("message"))
	whole := cmp.Or(d.at("errorDetails").text(), strings.TrimPrefix(shown.text(), "API Error: "))
	f := failureOf(whole, d.at("apiErrorStatus").int(), "")
	switch {
	case json.Valid([]byte(f.Message)):
		f.Message = (&value{raw: []byte(f.Message)}).at("error", "message").text()
	case f.Status != 0 && (f.Message == whole || f.Status >= http.StatusInternalServerError):
		f.Message = ""
	}
	return f
}

// file notes what the result of a tool reveals about a file's content at the start.
func (c *claudeSession) file(v *value) {
	file := v.at("file")
	path := v.at("filePath").text()
	text := v.at("originalFile")
	if file != nil && file.at("startLine").int() == 1 && file.at("numLines").int() >= file.at("totalLines").int() {
		path, text = file.at("filePath").text(), file.at("content")
	}
	name, err := filepath.Rel(c.Folder, path)
	if err != nil || path == "" || !filepath.IsLocal(name) || c.touched[name] {
		return
	}
	c.touched[name] = true
	if text != nil && len(text.text()) <= maxKnownFile {
		c.Files[filepath.ToSlash(name)] = text.text()
	}
}

// close completes the session.
func (c *claudeSession) close() {
	for i, a := range c.answers {
		c.Turns[i].answer(a.content, a.stop)
	}
	c.gaps.close(&c.Conversation)
	slices.SortStableFunc(c.Turns, func(a, b Turn) int { return a.Began.Compare(b.Began) }) // those of subagents are in other files
	c.derive()
	c.Derived = false
	if c.subagents > 0 {
		c.Notes = append(c.Notes, "Subagents made some of the calls; their order is that of the session.")
	}
	if missing := c.missingAgents(); len(missing) > 0 {
		c.Partial = true
		c.Notes = append(c.Notes, fmt.Sprintf("The files lack the calls of %s; the first missing file is %s.",
			format.Plural(len(missing), "subagent"), filepath.Join(subagentsOf(c.File), "agent-"+missing[0]+".jsonl")))
	}
	c.Notes = append(c.Notes,
		"A session has no initial files, only what the agent read of them, and neither its settings nor its permissions.")
}

// missingAgents returns the ids of the subagents whose calls the files do not have.
func (c *claudeSession) missingAgents() []string {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(c.agents)) {
		if !c.agents[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// codingArguments makes the paths in a call relative to the folder in which the agent worked.
func (c *Conversation) codingArguments(call llm.ToolCall) llm.ToolCall {
	if len(c.Folder) > 1 {
		call.Arguments = strings.ReplaceAll(call.Arguments, c.Folder+"/", "")
		call.Arguments = strings.ReplaceAll(call.Arguments, `"`+c.Folder+`"`, `"."`)
	}
	return call
}
