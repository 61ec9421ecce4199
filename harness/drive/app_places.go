package drive

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/llm"
)

// places replaces what differs from trial to trial in an agent's environment (its folders,
// the backend's address, ports) by fixed names, since an agent may print them anywhere. The
// zero value replaces ports only.
type places struct {
	marks []string // each text with a place contains one of them
	names *strings.Replacer
}

func newPlaces(site app.Site) places {
	marks := []string{filepath.Base(filepath.Dir(site.Folder)), site.Backend}
	pairs := []string{site.Folder, "{workspace}", site.Home, "{home}", site.Backend, "{backend}"}
	if _, trial, ok := strings.Cut(site.Backend, "/t/"); ok {
		marks, pairs = append(marks, trial), append(pairs, trial, "{trial}")
	}
	return places{marks: marks, names: strings.NewReplacer(pairs...)}
}

// ephemeral matches ports of this machine from 32768. The system assigns them, and they
// differ from run to run; see RFC 6056, section 2.1.
var ephemeral = lazyregexp.New(`\b(127\.0\.0\.1|localhost):(3276[89]|327[7-9]\d|32[89]\d\d|3[3-9]\d{3}|[4-6]\d{4})\b`)

// text returns s with the names in place of the places.
func (p places) text(s string) string {
	for _, mark := range p.marks {
		if strings.Contains(s, mark) {
			s = p.names.Replace(s)
			break
		}
	}
	if strings.Contains(s, "127.0.0.1:") || strings.Contains(s, "localhost:") {
		s = ephemeral().ReplaceAllString(s, "$1:{port}")
	}
	return s
}

func (p places) attrs(all map[string]any) map[string]any {
	if all == nil {
		return nil
	}
	named := make(map[string]any, len(all))
	for name, value := range all {
		if text, ok := value.(string); ok {
			value = p.text(text)
		}
		named[name] = value
	}
	return named
}

// request returns req with the names in place of the places.
func (p places) request(req llm.Request) llm.Request {
	messages := make([]llm.Message, len(req.Messages))
	for i, m := range req.Messages {
		messages[i] = p.message(m)
	}
	req.Messages = messages
	return req
}

func (p places) message(m llm.Message) llm.Message {
	m.Content, m.ToolCalls = p.text(m.Content), p.toolCalls(m.ToolCalls)
	m.Attachments = slices.Clone(m.Attachments)
	for i := range m.Attachments {
		m.Attachments[i].Source = p.text(m.Attachments[i].Source)
	}
	return m
}

func (p places) toolCalls(calls []llm.ToolCall) []llm.ToolCall {
	named := make([]llm.ToolCall, len(calls))
	for i, c := range calls {
		c.Arguments = p.text(c.Arguments)
		named[i] = c
	}
	return named
}

// rename replaces the places in the recorded script and end of a trial.
func (p places) rename(t *record.Trial) {
	t.End.Text, t.End.Details = p.text(t.End.Text), p.text(t.End.Details)
	t.End.HarnessError, t.End.Skipped = p.text(t.End.HarnessError), p.text(t.End.Skipped)
	for i := range t.Exchanges {
		t.Exchanges[i].Problem = p.text(t.Exchanges[i].Problem)
	}
	s := &t.Script
	for _, texts := range [][]string{s.Unexpected, s.Strays, s.Invalid, s.InvalidTools, s.Warnings, s.UnofferedTools} {
		for i := range texts {
			texts[i] = p.text(texts[i])
		}
	}
}
