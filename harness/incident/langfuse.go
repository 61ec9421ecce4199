package incident

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/llm"
)

// isObservation reports whether a value is an observation of Langfuse.
func isObservation(v *value) bool {
	return v.at("traceId") != nil && v.at("startTime") != nil && v.at("type") != nil
}

// observationsOf returns the observations of a value: itself, those of a trace, or those of a page of
// the API.
func observationsOf(v *value) []*value {
	if isObservation(v) {
		return []*value{v}
	}
	var all []*value
	for _, item := range slices.Concat(v.at("observations").list(), v.at("data").list()) {
		for _, o := range append(item.at("observations").list(), item) {
			if isObservation(o) {
				all = append(all, o)
			}
		}
	}
	return all
}

// readLangfuse reads the generations of an export of Langfuse: observations in JSON or JSON Lines, pages
// of the API /api/public/observations, or traces with their observations. Each trace is a conversation.
func readLangfuse(s *source) []Conversation {
	traces := map[string]*Conversation{}
	var order []string
	seen := map[string]bool{}
	empty := 0
	for _, d := range s.docs {
		for _, o := range observationsOf(d.value) {
			id := o.at("id").text()
			if o.at("type").text() != "GENERATION" || id != "" && seen[id] {
				continue
			}
			seen[id] = true
			trace := o.at("traceId").text()
			if traces[trace] == nil {
				traces[trace] = &Conversation{ID: trace, File: d.file, Agent: d.at("name").text()}
				order = append(order, trace)
			}
			t := generationOf(o)
			t.Reply.Usage = generationUsage(&counts{from: s, document: d, call: "generation " + id + ": "}, o)
			if t.Missing && t.Failure == nil {
				empty++
			}
			traces[trace].Turns = append(traces[trace].Turns, t)
		}
	}
	if empty > 0 {
		s.report(s.docs[0], "%d generations have no output; export them with the fields input and output", empty)
	}
	pages := missingPages(s.docs)
	var all []Conversation
	for _, id := range order {
		c := traces[id]
		slices.SortStableFunc(c.Turns, func(a, b Turn) int { return a.Began.Compare(b.Began) })
		c.Began = c.Turns[0].Began
		if slices.ContainsFunc(c.Turns, func(t Turn) bool { return !t.Missing || t.Failure != nil }) {
			c.recall()
			c.derive()
			if pages != "" {
				c.Notes, c.Partial = append(c.Notes, pages), true
			}
			all = append(all, *c)
		}
	}
	return all
}

// missingPages describes which pages of an answer of the API are not among the documents; "" if none is missing.
func missingPages(docs []document) string {
	read := map[int]bool{}
	total := 0
	for _, d := range docs {
		if page, ok := d.at("meta", "page").number(); ok {
			read[page] = true
			total = max(total, d.at("meta", "totalPages").int())
		}
	}
	if len(read) >= total {
		return ""
	}
	return fmt.Sprintf("The files have %d of %d pages of the API's answer, so calls may be missing; import all pages together.",
		len(read), total)
}

func generationOf(o *value) Turn {
	t := Turn{Began: instant(o.at("startTime")), Ended: instant(o.at("endTime")), Missing: true}
	t.generation(o.at("input"), o.at("output"))
	t.Reply.Model = o.first("model", "providedModelName", "internalModel").text()
	if o.at("level").text() == "ERROR" {
		t.Failure = failureOf(o.at("statusMessage").text(), 0, "")
	}
	return t
}

// observation begins the names of the attributes of Langfuse's spans.
const observation = "langfuse.observation."

// readLangfuseSpan reads the attributes of Langfuse's SDKs from version 4 (JavaScript) and 3 (Python).
func (s *source) readLangfuseSpan(sp *span, t *Turn) {
	if sp.attr(observation+"type").text() != "generation" {
		return
	}
	t.generation(sp.attr(observation+"input"), sp.attr(observation+"output"))
	t.Reply.Model = sp.attr(observation + "model.name").text()
	if spent := s.parsed(sp, observation+"usage_details"); spent != nil {
		t.Reply.Usage = usageDetails(&counts{from: s, document: sp.from, call: "span " + sp.id + ": "}, spent)
	}
	if sp.attr(observation+"level").text() == "ERROR" {
		t.Failure = failureOf(sp.attr(observation+"status_message").text(), 0, "")
	}
}

// generation reads the prompt and the answer of a generation.
func (t *Turn) generation(in, out *value) {
	if list, ok := in.nested(); ok {
		t.Messages = messagesOf(list)
	} else if text := in.text(); text != "" {
		t.Messages = []llm.Message{{Role: llm.User, Content: text}}
	}
	inner, ok := out.nested()
	switch {
	case ok && inner.is('['):
		if items := inner.list(); len(items) > 0 {
			t.answer(contentOf(items[0]), "")
		}
	case ok && inner.is('{'):
		c := contentOf(inner)
		if choices := inner.at("choices").list(); len(choices) > 0 {
			c = contentOf(choices[0])
		}
		if len(c.texts)+len(c.calls) == 0 && inner.first("role", "content") == nil {
			c.texts = []string{inner.words()} // an answer in JSON
		}
		t.answer(c, "")
	case out.text() != "":
		t.answer(content{texts: []string{out.text()}}, "")
	}
}

// instant returns a time in RFC 3339, or as databases write it.
func instant(v *value) time.Time {
	if at := v.time(); !at.IsZero() {
		return at
	}
	at, _ := time.Parse("2006-01-02 15:04:05.999999999", strings.TrimSuffix(v.text(), " UTC")) // else the zero value
	return at
}

// usageDetails returns the tokens of a generation, nil if it has none. Some integrations count cached and
// reasoning tokens within input and output, others beside them; the total shows which.
func usageDetails(n *counts, u *value) *llm.Usage {
	if u.at("input") == nil || u.at("output") == nil {
		return nil
	}
	in, out := n.of(u, "input"), n.of(u, "output")
	cached := n.of(u, "input_cached_tokens", "cache_read_input_tokens", "input_cache_read")
	written := n.of(u, "cache_creation_input_tokens", "input_cache_creation", "input_cache_write_tokens")
	reasoning := n.of(u, "output_reasoning_tokens", "output_reasoning")
	if n.of(u, "total") != in+out {
		in, out = in+cached+written, out+reasoning
	}
	return n.usage(in, cached, written, out, reasoning)
}

// generationUsage returns the tokens of a generation, nil if it has none.
func generationUsage(n *counts, o *value) *llm.Usage {
	if spent := usageDetails(n, o.at("usageDetails")); spent != nil {
		return spent
	}
	prompt, completion := []string{"promptTokens", "inputUsage"}, []string{"completionTokens", "outputUsage"}
	if u := o.at("usage"); o.first(prompt...) == nil && u.at("output") != nil {
		o, prompt, completion = u, []string{"input"}, []string{"output"}
	}
	if o.first(prompt...) == nil || o.first(completion...) == nil {
		return nil
	}
	in, out := n.of(o, prompt...), n.of(o, completion...)
	if in == 0 && out == 0 { // 0 stands for unknown here
		return nil
	}
	return n.usage(in, 0, 0, out, 0)
}
