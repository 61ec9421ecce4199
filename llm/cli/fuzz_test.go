package cli

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/child"
)

// FuzzParse feeds any bytes to every parser. None may panic, and a verdict must
// be sound: a reply has text and counts that are not negative, a failure has a
// kind, and the streamed text equals the stored one.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"type":"system","subtype":"init","model":"m"}` + "\n" + `{"type":"assistant","message":{"content":[{"type":"text","text":"hi"}]}}`,
		`{"type":"result","subtype":"success","is_error":true,"result":"limit","usage":{"input_tokens":-1}}`,
		`{"type":"item.completed","item":{"type":"agent_message","text":"hi"}}` + "\n" + `{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":9}}`,
		`{"type":"turn.failed","error":{"message":"try again in 99999999h"}}`,
		`{"type":"message","role":"assistant","content":"a","delta":true}` + "\n" + `{"type":"result","status":"success","stats":{"total_tokens":-5}}`,
		`{"type":"assistant.message","data":{"content":"x","toolRequests":[{"name":"task_complete","arguments":{"summary":"y"}}]}}`,
		`{"type":"result","exitCode":0}`,
		"\xff\xfe\n\n{\"type\":", "null\n[]\n0",
	} {
		for i := range agents {
			f.Add(uint8(i), seed, int8(0))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, stdout string, code int8) {
		g := agents[int(which)%len(agents)]
		var streamed strings.Builder
		a := &answer{onText: func(s string) { streamed.WriteString(s) }}
		if err := eachLine(strings.NewReader(stdout), 1<<16, 1<<20, func(line []byte) {
			keep := bytes.Clone(line)
			g.parse(a, line)
			if !bytes.Equal(keep, line) {
				t.Fatal("the parser changed its input")
			}
		}); err != nil {
			t.Skip("flood")
		}
		reply, failure := judge(g, a, ending{Ending: child.Ending{Code: int(code)}})
		switch {
		case streamed.String() != a.all.String():
			t.Fatal("told and kept text differ")
		case failure == nil && strings.TrimSpace(reply.Text) == "":
			t.Fatal("a reply without text")
		case failure == nil && reply.Usage != nil && min(reply.Usage.Input, reply.Usage.CachedInput, reply.Usage.Output) < 0:
			t.Fatalf("negative usage %+v", reply.Usage)
		case failure != nil && (failure.Kind == "" || !utf8.ValidString(failure.Partial)):
			t.Fatalf("unsound failure %+v", failure)
		}
	})
}

func BenchmarkParseClaude(b *testing.B) {
	line := []byte(`{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"` + strings.Repeat("word ", 40) + `"}]}}`)
	b.Run("event", func(b *testing.B) {
		for b.Loop() {
			claudeLine(&answer{}, line)
		}
	})
	b.Run("floor/decode", func(b *testing.B) {
		for b.Loop() {
			var a answer
			var e claudeEvent
			_ = a.decode(line, &e)
		}
	})
}
