package incident

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/llm"
)

// maxIndexed limits the messages of a span with one attribute for each part of a message.
const maxIndexed = 10_000

// turnOf reads a call. The content comes from the first of the places that has an answer.
func (s *source) turnOf(sp *span) Turn {
	t := Turn{Began: sp.began, Ended: sp.ended, Missing: true}
	t.Reply.Model = sp.attr("gen_ai.response.model", "gen_ai.request.model", "ai.response.model", "ai.model.id", "llm.model_name").text()
	for _, read := range []func(*span, *Turn){s.readMessages, s.readAISDK, readIndexed, readOpenInference, readEvents, s.readLangfuseSpan} {
		if t.Missing {
			read(sp, &t)
		}
	}
	if reasons := sp.attr("gen_ai.response.finish_reasons").list(); t.Reply.Finish == "" && len(reasons) > 0 {
		t.Reply.Finish = finishOf(reasons[0].text())
	}
	if t.Reply.Usage == nil {
		t.Reply.Usage = s.usageOf(sp)
	}
	if errorType := sp.attr("error.type").text(); t.Failure == nil && (sp.failed || errorType != "") {
		t.Failure = failureOf(cmp.Or(sp.status, errorType), sp.attr("http.response.status_code", "http.status_code").int(), errorType)
	}
	return t
}

// statusAtStart matches the status at the start of the errors of OpenAI's and Anthropic's clients: in Node
// "429 Rate limit reached", in Python "Error code: 429 - {...}"; of axios, "Request failed with status code 429"; and
// "HTTP 429: ...". The name of the error may be before it.
var statusAtStart = lazyregexp.New(`^(?:[\w.]*(?:Error|Exception): )?` +
	`(?i:error code: |request failed with status code |http(?:/[\d.]+)?(?: error| status)?(?: code)?:? )?([45]\d\d)\b[ :-]*`)

// failureOf returns a failure, with its status from the first place that has it.
func failureOf(message string, status int, errorType string) *Failure {
	f := &Failure{Status: status, Message: message}
	if n, err := strconv.Atoi(errorType); err == nil && f.Status == 0 {
		f.Status = n
	}
	if at := statusAtStart().FindStringSubmatch(message); at != nil {
		if f.Status == 0 {
			f.Status, _ = strconv.Atoi(at[1]) // three digits
		}
		f.Message = message[len(at[0]):]
	}
	return f
}

// readMessages reads the attributes of the conventions since version 1.37.
func (s *source) readMessages(sp *span, t *Turn) {
	if system := s.parsed(sp, "gen_ai.system_instructions"); system != nil {
		var c content
		for _, part := range system.list() {
			c.add(part)
		}
		t.Messages = append(t.Messages, llm.Message{Role: llm.System, Content: c.text()})
	}
	t.Messages = append(t.Messages, messagesOf(s.parsed(sp, "gen_ai.input.messages"))...)
	if out := s.parsed(sp, "gen_ai.output.messages").list(); len(out) > 0 {
		t.answer(contentOf(out[0]), out[0].at("finish_reason").text())
	}
}

// readAISDK reads the attributes of the Vercel AI SDK.
func (s *source) readAISDK(sp *span, t *Turn) {
	if in := s.parsed(sp, "ai.prompt.messages"); in != nil {
		t.Messages = messagesOf(in)
	}
	text, calls := sp.attr("ai.response.text"), s.parsed(sp, "ai.response.toolCalls")
	if text == nil && calls == nil {
		return
	}
	var c content
	if text != nil {
		c.texts = append(c.texts, text.text())
	}
	for _, call := range calls.list() {
		c.calls = append(c.calls, callOf(call))
	}
	if thought := sp.attr("ai.response.reasoning").text(); thought != "" {
		c.thinking = append(c.thinking, thought)
	}
	t.answer(c, sp.attr("ai.response.finishReason").text())
}

// readIndexed reads the attributes gen_ai.prompt.0.content, ... of OpenLLMetry.
func readIndexed(sp *span, t *Turn) {
	var messages []llm.Message
	for i := range maxIndexed {
		at := fmt.Sprintf("gen_ai.prompt.%d.", i)
		role := sp.attr(at + "role").text()
		if role == "" {
			break
		}
		m := llm.Message{Role: roleOf(role), ToolCallID: sp.attr(at + "tool_call_id").text(), ToolCalls: indexedCalls(sp, at)}
		m.Content, m.Attachments = indexedText(sp.attr(at + "content"))
		messages = append(messages, m)
	}
	if messages != nil {
		t.Messages = messages
	}
	const at = "gen_ai.completion.0."
	text, calls := sp.attr(at+"content"), indexedCalls(sp, at)
	if text == nil && calls == nil {
		return
	}
	c := content{calls: calls}
	if text != nil {
		c.texts = append(c.texts, text.text())
	}
	t.answer(c, sp.attr(at+"finish_reason").text())
}

// indexedText returns a content, which may be JSON with parts.
func indexedText(v *value) (string, []llm.Attachment) {
	inner, ok := v.nested()
	if !ok || !inner.is('[') {
		return v.text(), nil
	}
	var c content
	for _, part := range inner.list() {
		c.add(part)
	}
	return resultOf(inner), c.attachments()
}

func indexedCalls(sp *span, at string) []llm.ToolCall {
	var calls []llm.ToolCall
	for i := range maxIndexed {
		at := fmt.Sprintf("%stool_calls.%d.", at, i)
		name := sp.attr(at + "name").text()
		if name == "" {
			break
		}
		calls = append(calls, llm.ToolCall{ID: sp.attr(at + "id").text(), Name: name, Arguments: sp.attr(at + "arguments").words()})
	}
	return calls
}

// readEvents reads the events of the conventions before version 1.37: one for each message, and one
// for the answer. Up to version 1.27 they were two with JSON in an attribute.
func readEvents(sp *span, t *Turn) {
	events := slices.Clone(sp.events)
	slices.SortStableFunc(events, func(a, b spanEvent) int { return a.at - b.at })
	var messages []llm.Message
	for _, e := range events {
		body := e.content()
		role, isMessage := strings.CutSuffix(strings.TrimPrefix(e.name, "gen_ai."), ".message")
		switch {
		case e.name == "gen_ai.content.prompt":
			if in, ok := e.attrs["gen_ai.prompt"].nested(); ok {
				messages = append(messages, messagesOf(in)...)
			}
		case e.name == "gen_ai.content.completion":
			if out, ok := e.attrs["gen_ai.completion"].nested(); ok && len(out.list()) > 0 {
				t.answer(contentOf(out.list()[0]), "")
			}
		case e.name == "gen_ai.choice" && body.at("index").int() == 0:
			t.answer(contentOf(body), body.at("finish_reason").text())
		case isMessage:
			for _, m := range messageOf(body) {
				m.Role = roleOf(role)
				messages = append(messages, m)
			}
		}
	}
	if messages != nil {
		t.Messages = messages
	}
}

// content returns the body of a log record, or what an event of a span has instead: an attribute with the
// body as JSON, or an attribute for each member, in which values other than texts are JSON.
func (e *spanEvent) content() *value {
	if e.body.object() != nil {
		return e.body
	}
	if inner, ok := e.attrs["gen_ai.event.content"].nested(); ok && inner.is('{') {
		return inner
	}
	members := maps.Clone(e.attrs)
	for _, key := range []string{"message", "tool_calls"} {
		if inner, ok := members[key].nested(); ok && (inner.is('{') || inner.is('[')) {
			members[key] = inner
		}
	}
	return objectOf(members)
}

// parsed returns an attribute whose text is JSON, and reports one that is not.
func (s *source) parsed(sp *span, name string) *value {
	v := sp.attr(name)
	if v == nil {
		return nil
	}
	inner, ok := v.nested()
	if !ok {
		s.report(sp.from, "span %s: the attribute %s is not JSON; was it cut off at a limit of the SDK?", sp.id, name)
		return nil
	}
	return inner
}
