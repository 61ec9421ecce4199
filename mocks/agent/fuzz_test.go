package agent

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// FuzzInvocation feeds any invocation to every style. It is either refused or has
// a prompt, and whatever is answered ends with an exit.
func FuzzInvocation(f *testing.F) {
	names := slices.Sorted(maps.Keys(styles))
	for i := range names {
		f.Add(uint8(i), `{"args":["exec","--json","-"],"stdin":"x"}`, "text")
		f.Add(uint8(i), `{"args":["--print","--verbose","--output-format=stream-json","--","--x"]}`, "")
		f.Add(uint8(i), `{"args":["-p","x","--output-format","json","-s"]}`, "a\nb\n")
		f.Add(uint8(i), `{"args":["=","--=","-","--output-format"]}`, "\xff")
	}
	f.Fuzz(func(t *testing.T, which uint8, body, text string) {
		c := codec{style: styles[names[int(which)%len(names)]]}
		call, refused := c.Decode([]byte(body))
		var frames []wire.Frame
		if refused != nil {
			frames = c.EncodeError(refused)
		} else {
			prompt := call.Messages[len(call.Messages)-1].Content
			if strings.TrimSpace(prompt) == "" {
				t.Fatal("accepted without a prompt")
			}
			frames = c.Encode(call, wire.Completion{
				ID: "1", Text: text, ToolCalls: []llm.ToolCall{{ID: "c", Name: "f", Arguments: text}},
			})
		}
		for i, frame := range frames {
			last := i == len(frames)-1
			if o := orderOf(frame); (o.Op == opExit) != last {
				t.Fatalf("frame %d of %d does %q", i+1, len(frames), o.Op)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	answer := wire.Completion{ID: "1", Model: "m", Text: strings.Repeat("word ", 200)}
	for name, s := range styles {
		b.Run(name, func(b *testing.B) {
			c := codec{style: s}
			for b.Loop() {
				c.Encode(wire.Call{}, answer)
			}
		})
	}
}
