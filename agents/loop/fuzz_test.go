package loop_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/llm"
)

// FuzzParseCompletion reads answers in both modes.
func FuzzParseCompletion(f *testing.F) {
	for _, seed := range []string{
		"", "DONE", "x\n```\nDONE\n```\nDONE", "BLOCKED: y", `{"status":"done","summary":"s"}`,
		"```json\n{\"status\":\"done\"}\n```", `{"a":{"b":[{"status":"blocked"}]`, "{{{{", "{\"\xff\": 1}", `{"`, `{"a":"\`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		switch result, _ := read(loop.Marker, llm.Reply{Text: text}); result.Status {
		case loop.StatusDone:
			if !slices.ContainsFunc(strings.Split(text, "\n"), func(l string) bool { return strings.TrimSpace(l) == "DONE" }) {
				t.Errorf("done without a marker: %q", text)
			}
		case loop.StatusBlocked:
			if !strings.Contains(text, "BLOCKED:") {
				t.Errorf("blocked without a marker: %q", text)
			}
		default:
		}
		// An object on a line of its own before the text changes nothing if the text has one,
		// and decides if it has none.
		result, note := read(loop.JSON, llm.Reply{Text: text})
		with, withNote := read(loop.JSON, llm.Reply{Text: "{\"status\":\"done\"}\n" + text})
		want := result.Status
		if strings.HasPrefix(note, "the answer holds no") {
			want, note = loop.StatusDone, ""
		}
		if with.Status != want || with.Summary != result.Summary || withNote != note {
			t.Errorf("%q: %s %q, and after an object: %s %q", text, want, note, with.Status, withNote)
		}
	})
}
