package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/llm"
)

// snapshotFacts renders the parts of a trial that its scenario has snapshots of, by the keys of
// expect.Snapshot.
func snapshotFacts(sc *record.Scenario, tr *record.Trial, turns []TurnFacts) map[string]string {
	s := sc.Expect.Snapshot
	var all map[string]string
	for key := range s.Files() {
		if all == nil {
			all = map[string]string{}
		}
		var b strings.Builder
		switch key {
		case "text":
			renderText(&b, tr, turns)
		case "tools":
			renderTools(&b, tr)
		default:
			renderPrompts(&b, tr)
		}
		all[key] = normalized(b.String(), s.Ignore)
	}
	return all
}

// renderText writes the final text, or the answers to several turns.
func renderText(b *strings.Builder, tr *record.Trial, turns []TurnFacts) {
	if len(turns) < 2 {
		writeBlock(b, tr.End.Text)
		return
	}
	for i := range turns {
		t := &turns[i]
		heading(b, "turn", t.N)
		writeBlock(b, "[user]\n"+t.User)
		if t.Error != "" {
			writeBlock(b, "\n[no answer]")
			continue
		}
		writeBlock(b, "\n[agent]\n"+t.Text)
	}
}

// renderTools writes each tool call of the model, with the result that the agent sent back.
func renderTools(b *strings.Builder, tr *record.Trial) {
	results := toolResults(tr)
	for i := range tr.Calls {
		reply, ok := tr.Message(tr.Calls[i].Reply)
		if !ok || len(reply.ToolCalls) == 0 {
			continue
		}
		heading(b, "call", tr.Calls[i].N)
		for _, call := range reply.ToolCalls {
			writeToolCall(b, call)
			result, sent := results[call.ID]
			if !sent {
				b.WriteString("  (no result)\n")
				continue
			}
			for line := range strings.SplitSeq(strings.TrimRight(result, "\n"), "\n") {
				b.WriteString("  " + line + "\n")
			}
		}
	}
	if b.Len() == 0 {
		b.WriteString("(no tool was called)\n")
	}
}

// toolResults returns the results that the agent sent, by the id of the tool call; the first of each.
func toolResults(tr *record.Trial) map[string]string {
	results := map[string]string{}
	for i := range tr.Messages {
		m := &tr.Messages[i]
		if _, there := results[m.ToolCallID]; m.Role == llm.ToolRole && !there {
			results[m.ToolCallID] = m.Content
		}
	}
	return results
}

// renderPrompts writes the messages of each call. It leaves out the beginning that equals the previous call.
func renderPrompts(b *strings.Builder, tr *record.Trial) {
	var before []string
	for i := range tr.Calls {
		c := &tr.Calls[i]
		heading(b, "call", c.N)
		same := 0
		for same < min(len(before), len(c.Messages)) && before[same] == c.Messages[same] {
			same++
		}
		if same > 0 {
			fmt.Fprintf(b, "(%s as in the call before)\n", format.Plural(same, "message"))
		}
		for n, id := range c.Messages[same:] {
			if m, ok := tr.Message(id); ok {
				if same+n > 0 {
					b.WriteString("\n")
				}
				writeMessage(b, m)
			}
		}
		before = c.Messages
	}
	if b.Len() == 0 {
		b.WriteString("(the model was not called)\n")
	}
}

func writeMessage(b *strings.Builder, m *record.Message) {
	fmt.Fprintf(b, "[%s]\n", m.Role)
	if m.Content != "" {
		writeBlock(b, m.Content)
	}
	for _, a := range m.Attachments {
		fmt.Fprintf(b, "(%s)\n", strings.Join(slices.DeleteFunc([]string{a.Kind, a.MediaType, a.Name},
			func(s string) bool { return s == "" }), ", "))
	}
	for _, call := range m.ToolCalls {
		writeToolCall(b, call)
	}
}

func writeToolCall(b *strings.Builder, call llm.ToolCall) {
	fmt.Fprintf(b, "%s(%s)\n", call.Name, canonicalJSON(call.Arguments))
}

// canonicalJSON returns JSON with sorted keys and without spaces, and any other text unchanged.
func canonicalJSON(text string) string {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil || decoder.More() {
		return text
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return text
	}
	return strings.TrimSpace(out.String())
}

// heading separates the parts of a snapshot.
func heading(b *strings.Builder, what string, n int) {
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "## %s %d\n\n", what, n)
}

// writeBlock writes a text and one line break.
func writeBlock(b *strings.Builder, text string) {
	b.WriteString(strings.TrimRight(text, "\r\n") + "\n")
}

// The forms of ids and times that differ from run to run.
var (
	snapshotID = lazyregexp.New(`\b(?:[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|` +
		`(?:asst|call|chatcmpl|msg|req|resp|run|sess|thread|toolu)[_-][0-9A-Za-z]{8,})\b`)
	snapshotTime = lazyregexp.New(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?` +
		`(?:Z|[+-][0-9]{2}:?[0-9]{2}\b)?`)
)

// normalized replaces text that may differ between two equal runs: ids by their number in the text, times, and
// matches of the patterns. Line breaks become "\n", and bytes that are not text a replacement character.
func normalized(text string, ignore []string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	text = strings.ReplaceAll(text, "\x00", "\uFFFD")
	for _, pattern := range ignore {
		if re, err := regexp.Compile(pattern); err == nil { // scenarios with others are rejected
			text = re.ReplaceAllLiteralString(text, "{ignored}")
		}
	}
	text = snapshotTime().ReplaceAllLiteralString(text, "{time}")
	numbers := map[string]int{}
	return snapshotID().ReplaceAllStringFunc(text, func(id string) string {
		if numbers[id] == 0 {
			numbers[id] = len(numbers) + 1
		}
		return fmt.Sprintf("{id %d}", numbers[id])
	})
}
