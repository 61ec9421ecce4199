package capture

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/tape"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Matching selects the conditions by which the lines of a captured script match requests.
type Matching string

// The ways to match.
const (
	ByText  Matching = "text"  // rules by turn and the last user text; the default
	ByTurn  Matching = "turn"  // rules by turn alone, for texts that change from run to run
	InOrder Matching = "order" // a strict sequence, for an agent that makes one call at a time
)

// Matchings lists the ways to match.
func Matchings() []Matching { return []Matching{ByText, ByTurn, InOrder} }

// ScriptOptions configures Script.
type ScriptOptions struct {
	// Model of the script; by default the model of all answers, if there is only one.
	Model string
	// Matching selects the conditions on requests; default ByText.
	Matching Matching
	// Latency adds the latency of each answer.
	Latency bool
	// Tape is the file of the tape, relative to the script's folder. If it is set, lines replay
	// the frames of their exchanges.
	Tape string
	// Media is the tape for images and speech that a script cannot contain: long ones, and several in one
	// answer. Their lines replay the exchanges.
	Media string
	// Assert adds the last user text and the last tool result to the conditions, with InOrder as
	// well. Use it if the agent's tools return the same in every run.
	Assert bool
}

// Turn is a request and its answer, which become a line.
type Turn struct {
	N       int // position in the order of the requests
	Request llm.Request
	Answer  mocks.Answer
	Model   string // that answered
}

// Skipped is an exchange that cannot become a line.
type Skipped struct {
	N   int // of the exchange
	Why string
}

// Script returns the script of a tape: a line for each exchange, in the order of the requests, which
// answers once. Equal requests with different answers have a line each, those with equal answers
// share one. A conversation with another call, or without one of the calls, deviates from the script.
func Script(t tape.Tape, o ScriptOptions) (mocks.Script, []Skipped) {
	m := maker{opts: o}
	for i := range t.Exchanges {
		m.add(&t.Exchanges[i])
	}
	m.addBatches()
	return m.script(), m.skipped
}

// ScriptOf returns the script of turns, as Script does for those of a tape.
func ScriptOf(turns []Turn, o ScriptOptions) mocks.Script {
	m := maker{opts: o}
	for i := range turns {
		t := &turns[i]
		m.insert(turn{n: t.N, call: wire.Call{Request: t.Request}, answer: t.Answer, model: t.Model})
	}
	return m.script()
}

// maker builds a script.
type maker struct {
	opts    ScriptOptions
	stored  wire.ResponseStore // for references in later requests
	storage storage
	turns   []turn
	skipped []Skipped
}

// turn is an exchange that becomes a line.
type turn struct {
	n      int
	call   wire.Call
	answer mocks.Answer
	model  string // of the answer
	id     string // of the answer
}

func (m *maker) add(x *tape.Exchange) {
	if codec, ok := wire.ForProtocol(x.Protocol); ok && isStored(codec) && x.Lost == "" {
		m.storage.add(x)
		return
	}
	t, why := m.turn(x)
	if why != "" {
		m.skipped = append(m.skipped, Skipped{x.N, why})
		return
	}
	m.insert(t)
}

// insert adds a turn at its position: the exchanges of a tape are in the order of their ends.
func (m *maker) insert(t turn) {
	at := len(m.turns)
	for at > 0 && m.turns[at-1].n > t.n {
		at--
	}
	m.turns = slices.Insert(m.turns, at, t)
}

// turn reads an exchange, or returns why it cannot be a line.
func (m *maker) turn(x *tape.Exchange) (t turn, why string) {
	if x.Lost != "" {
		return t, x.Lost
	}
	codec, ok := wire.ForExchange(x.Protocol, x.Path)
	if !ok {
		return t, fmt.Sprintf("unknown protocol %q", x.Protocol)
	}
	// The betas of a request determine what Anthropic accepts.
	codec = wire.ForRequest(codec, http.Header{"Anthropic-Beta": {x.Header["Anthropic-Beta"]}}, &m.stored)
	call, refused := codec.Decode(x.Sent())
	if refused != nil {
		return t, "a scripted backend would refuse the request: " + refused.Message
	}
	t = turn{n: x.N, call: call}
	var err error
	if x.Status >= http.StatusBadRequest {
		t.answer, err = failure(x)
	} else {
		err = m.reply(&t, codec, x)
	}
	if err != nil {
		return t, err.Error()
	}
	if m.opts.Tape != "" && len(x.Frames) > 0 && t.answer.Fault == nil {
		t.answer = mocks.Answer{Frames: &mocks.Frames{File: m.opts.Tape, Exchange: x.N}} // they have all of it
	}
	t.call.Remember(t.id, []wire.Frame{{Data: x.Body}})
	return t, ""
}

// failure returns a provider's error as a fault.
func failure(x *tape.Exchange) (mocks.Answer, error) {
	if x.Status > 599 {
		return mocks.Answer{}, fmt.Errorf("a fault cannot have the status %d", x.Status)
	}
	e := wire.ReadError(x.Status, nil, x.Body)
	return mocks.Answer{Fault: &mocks.Fault{
		Kind: "status", Status: x.Status, RetryAfter: quantity.Duration(cmp.Or(x.RetryAfter, e.RetryAfter)), Message: e.Message,
	}}, nil
}

func (m *maker) reply(t *turn, codec wire.Reader, x *tape.Exchange) error {
	c, err := codec.ReadAnswer(wire.Streamed(x.ContentType), x.Body)
	if err != nil {
		return err
	}
	a, err := AnswerOf(llm.Reply{Text: c.Text, ToolCalls: c.ToolCalls, Finish: c.Finish, Usage: &c.Usage})
	if err != nil {
		return err
	}
	if c.Media != nil {
		if a, err = m.media(&c, x); err != nil || a.Frames != nil {
			t.answer, t.model = a, c.Model
			return err
		}
	}
	a.Thinking, a.Refusal = c.Thinking, c.Refusal
	if c.Text == "" && c.Refusal != "" {
		a.Text = ""
	}
	if m.opts.Latency {
		a.Latency = latency(x, c.Usage.Output)
	}
	t.answer, t.model, t.id = a, c.Model, c.ID
	return nil
}

// AnswerOf returns the line that gives a reply: its text, tool calls, finish reason and usage.
func AnswerOf(r llm.Reply) (a mocks.Answer, err error) {
	if a.ToolCalls, err = toolCalls(r.ToolCalls); err != nil {
		return a, err
	}
	if r.Text != "" || len(r.ToolCalls) == 0 {
		a.Text = cmp.Or(mocks.Text(r.Text), mocks.EmptyText)
	}
	if r.Finish != (wire.Completion{ToolCalls: r.ToolCalls}).FinishReason() {
		a.Finish = string(r.Finish)
	}
	a.Usage = usage(r.Usage)
	return a, nil
}

func usage(u *llm.Usage) *mocks.ScriptedUsage {
	if u == nil || u.Source == "" {
		return nil
	}
	return &mocks.ScriptedUsage{
		Input: u.Input, CachedInput: u.CachedInput, CacheWrite: u.CacheWrite, Output: u.Output, Reasoning: u.Reasoning,
	}
}

// latency returns the time to the first byte of an answer and, for a stream, the time for each token
// after it.
func latency(x *tape.Exchange, tokens int) *mocks.Latency {
	l := &mocks.Latency{First: quantity.Duration(x.First.Round(time.Millisecond))}
	if rest := x.Total - x.First; tokens > 0 && wire.Streamed(x.ContentType) {
		l.PerToken = quantity.Duration((rest / time.Duration(tokens)).Round(10 * time.Microsecond))
	}
	return l
}

// toolCalls returns calls in the form of a script, with arguments as a mapping.
func toolCalls(calls []llm.ToolCall) ([]mocks.ScriptedToolCall, error) {
	var scripted []mocks.ScriptedToolCall
	for _, c := range calls {
		s := mocks.ScriptedToolCall{ID: c.ID, Name: c.Name}
		if c.Arguments == "" { // some models omit the arguments
			scripted = append(scripted, s)
			continue
		}
		d := json.NewDecoder(strings.NewReader(c.Arguments))
		d.UseNumber()
		err := d.Decode(&s.Arguments)
		if err == nil && d.More() {
			err = errors.New("there is more than one value")
		}
		if err != nil {
			return nil, fmt.Errorf("the arguments of the tool call %q are not a JSON object: %w", c.Name, err)
		}
		numbers(s.Arguments)
		if len(s.Arguments) == 0 {
			s.Arguments = nil
		}
		scripted = append(scripted, s)
	}
	return scripted, nil
}

// numbers converts json.Number, at any depth, to what a script has in its place.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return mocks.Number(v.String(), v)
	case map[string]any:
		for key, item := range v {
			v[key] = numbers(item)
		}
	case []any:
		for i, item := range v {
			v[i] = numbers(item)
		}
	}
	return v
}

// script joins the turns.
func (m *maker) script() mocks.Script {
	models := m.models(func(t *turn) string { return t.model })
	s := mocks.Script{Model: m.opts.Model, Storage: m.storage.faults}
	if s.Model == "" && len(models) == 1 {
		s.Model = models[0]
	}
	several := len(m.models(func(t *turn) string { return t.call.Model })) > 1
	var lines []mocks.Line
	seen := m.attachments()
	for i := range m.turns {
		line := m.line(&m.turns[i], several)
		if line.When != nil && m.turns[i].call.IsMedia() {
			line.When.Attachment = matchKind(m.turns[i].call.Messages)
		}
		if line.When != nil && len(seen[askedOf(&m.turns[i])]) > 1 {
			line.When.Attachment = matchAttachment(m.turns[i].call.Messages)
		}
		if !m.again(lines, line) {
			lines = append(lines, line)
		}
	}
	if m.opts.Matching == InOrder {
		s.Replies = lines
	} else {
		s.Rules = lines
	}
	return s
}

// asked identifies the requests of a line.
type asked struct {
	turn int
	user string
}

func askedOf(t *turn) asked {
	turn, user := mocks.Position(t.call.Messages)
	return asked{turn, user}
}

// attachments returns, for each question, what came with it: questions that differ only
// in their images are distinguished by these.
func (m *maker) attachments() map[asked]map[string]bool {
	all := map[asked]map[string]bool{}
	for i := range m.turns {
		key := askedOf(&m.turns[i])
		if all[key] == nil {
			all[key] = map[string]bool{}
		}
		all[key][lastAttachment(m.turns[i].call.Messages)] = true
	}
	return all
}

// lastAttachment returns the description of the last attachment from the last user message on, or "".
func lastAttachment(messages []llm.Message) string {
	for _, m := range slices.Backward(messages) {
		if n := len(m.Attachments); n > 0 {
			return m.Attachments[n-1].String()
		}
		if m.Role == llm.User {
			break
		}
	}
	return ""
}

// matchAttachment returns a condition on the last attachment; nil without attachments.
func matchAttachment(messages []llm.Message) *mocks.Match {
	if text := lastAttachment(messages); text != "" {
		return &mocks.Match{Equals: text}
	}
	return nil
}

// models returns the distinct names in order.
func (m *maker) models(of func(*turn) string) []string {
	var models []string
	seen := map[string]bool{"": true}
	for i := range m.turns {
		if name := of(&m.turns[i]); !seen[name] {
			seen[name] = true
			models = append(models, name)
		}
	}
	return models
}

// line returns the line of a turn, with a condition on the model if there are several models.
func (m *maker) line(t *turn, several bool) mocks.Line {
	line := mocks.Line{Times: 1, Answer: t.answer}
	turn, user := mocks.Position(t.call.Messages)
	when := mocks.When{}
	if m.opts.Matching != InOrder {
		when.Purpose, when.Turn = t.call.Purpose, &turn
		if several {
			when.Model = t.call.Model
		}
	}
	if m.opts.Assert || cmp.Or(m.opts.Matching, ByText) == ByText {
		when.User = matchText(user)
	}
	if m.opts.Assert {
		when.ToolResult = matchText(lastResult(t.call.Messages))
	}
	if !reflect.DeepEqual(when, mocks.When{}) {
		line.When = &when
	}
	return line
}

// lastResult returns the text of the last message if it is the result of a tool, or "".
func lastResult(messages []llm.Message) string {
	if n := len(messages); n > 0 && messages[n-1].Role == llm.ToolRole {
		return messages[n-1].Content
	}
	return ""
}

// again adds one to the times of the last line with the same conditions, if it has the same answer.
func (m *maker) again(lines []mocks.Line, line mocks.Line) bool {
	for i := len(lines) - 1; i >= 0; i-- {
		last := &lines[i]
		if !reflect.DeepEqual(last.When, line.When) {
			if m.opts.Matching == InOrder {
				return false
			}
			continue
		}
		if !reflect.DeepEqual(last.Answer, line.Answer) {
			return false
		}
		last.Times++
		return true
	}
	return false
}
