package incident

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// readPromptfoo reads the results of promptfoo eval -o results.json. Each test of each prompt and
// provider is a conversation of one call.
func readPromptfoo(s *source) []Conversation {
	var all []Conversation
	for _, d := range s.docs {
		results := d.at("results", "results").list()
		if results == nil {
			s.report(d, "a configuration of promptfoo has no answers; run promptfoo eval -o results.json and import that file")
		}
		for i, r := range results {
			if c, ok := s.resultOf(d, i, r); ok {
				all = append(all, c)
			}
		}
	}
	return all
}

func (s *source) resultOf(d document, i int, r *value) (Conversation, bool) {
	c := Conversation{
		ID: d.at("evalId").text() + "#" + strconv.Itoa(i+1), File: d.file, Began: d.at("results", "timestamp").time(),
		Notes: []string{"promptfoo sends the prompt to the model without an agent; your agent may build it from something else."},
	}
	provider := r.at("provider", "id").text()
	t := Turn{Missing: true}
	if t.Reply.Model = modelOf(provider); t.Reply.Model == "" {
		c.Notes = append(c.Notes, fmt.Sprintf("The provider %q of promptfoo does not name a model, so it is not known.", provider))
	}
	prompt := r.at("prompt", "raw")
	if inner, ok := prompt.nested(); ok && inner.is('[') {
		t.Messages = messagesOf(inner)
	} else {
		t.Messages = messagesOf(prompt)
	}
	response := r.at("response")
	switch out := response.at("output"); {
	case out.is('"'):
		t.answer(content{texts: []string{out.text()}}, response.at("finishReason").text())
	case out.is('['):
		var read content
		for _, call := range out.list() {
			read.calls = append(read.calls, callOf(call))
		}
		t.answer(read, response.at("finishReason").text())
	case out != nil:
		t.answer(content{texts: []string{out.words()}}, response.at("finishReason").text())
	}
	if t.Missing {
		s.report(d, "result %d has no answer: %s", i+1, r.first("error", "failureReason").words())
		return c, false
	}
	if u := response.at("tokenUsage"); u.at("prompt") != nil && u.at("completion") != nil {
		n := counts{from: s, document: d, call: fmt.Sprintf("result %d: ", i+1)}
		t.Reply.Usage = n.usage(n.of(u, "prompt"), 0, 0, n.of(u, "completion"), 0)
	}
	c.Turns = []Turn{t}
	c.recall()
	c.derive()
	for _, a := range r.at("testCase", "assert").list() {
		c.assertion(a, r.at("vars"))
	}
	return c, true
}

// programs are the beginnings of the ids of providers that are programs or services of the user.
var programs = []string{
	"file", "package", "python", "golang", "ruby", "javascript", "exec", "http", "https", "ws", "wss", "webhook", "browser", "mcp",
	"sequence", "promptfoo",
}

// apis are the names of APIs between the provider and the model.
var apis = []string{"chat", "completion", "responses", "messages", "converse"}

// modelOf returns the model of a provider such as openai:chat:gpt-4.1; "" if its id does not name one.
func modelOf(provider string) string {
	kind, model, ok := strings.Cut(provider, ":")
	if !ok || slices.Contains(programs, kind) {
		return ""
	}
	if api, rest, ok := strings.Cut(model, ":"); ok && slices.Contains(apis, api) {
		return rest
	}
	return model
}

// variable matches a variable in a template of promptfoo.
var variable = lazyregexp.New(`\{\{\s*(\w+)\s*\}\}`)

// rendered returns a text with the values of its variables. ok is false if it has unknown variables or other parts
// of a template.
func rendered(text string, vars *value) (s string, ok bool) {
	ok = true
	s = variable().ReplaceAllStringFunc(text, func(match string) string {
		v := vars.at(variable().FindStringSubmatch(match)[1])
		ok = ok && v != nil && !v.is('{') && !v.is('[')
		return v.words()
	})
	for _, mark := range []string{"{{", "{%", "{#"} {
		ok = ok && !strings.Contains(s, mark)
	}
	return s, ok
}

// assertion adds an assertion as an expression if there is one with the same meaning.
func (c *Conversation) assertion(a, vars *value) {
	kind := a.at("type").text()
	want, ok := rendered(a.at("value").text(), vars)
	quoted := strconv.Quote(want)
	switch {
	case !ok:
		c.Notes = append(c.Notes, fmt.Sprintf("The assertion %q of promptfoo is left out: its value %q is a template.",
			kind, a.at("value").text()))
	case want == "":
		c.Notes = append(c.Notes, fmt.Sprintf("The assertion %q of promptfoo is left out.", kind))
	case kind == "contains":
		c.Expect = append(c.Expect, "run.text.contains("+quoted+")")
	case kind == "not-contains":
		c.Expect = append(c.Expect, "!run.text.contains("+quoted+")")
	case kind == "icontains":
		c.Expect = append(c.Expect, "run.text.lowerAscii().contains("+strconv.Quote(strings.ToLower(want))+")")
	case kind == "equals":
		c.Expect = append(c.Expect, "run.text == "+quoted)
	case kind == "starts-with":
		c.Expect = append(c.Expect, "run.text.startsWith("+quoted+")")
	default:
		c.Notes = append(c.Notes, fmt.Sprintf("The assertion %q of promptfoo is left out.", kind))
	}
}
