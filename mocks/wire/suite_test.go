package wire_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

func TestWire(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "mocks/wire")
}

// expectGolden compares text with testdata/name.golden.
func expectGolden(name, text string) {
	GinkgoHelper()
	golden.Expect(name+".golden", []byte(text))
}

var ends = map[wire.End]string{wire.Close: "close", wire.Reset: "reset", wire.Hang: "hang"}

// render writes frames so that a person can read and compare them.
func render(frames []wire.Frame) string {
	var b strings.Builder
	for i, f := range frames {
		fmt.Fprintf(&b, "frame %d after %s\n", i, f.Delay)
		if f.Status != 0 {
			fmt.Fprintf(&b, "  status %d\n", f.Status)
		}
		for _, key := range slices.Sorted(maps.Keys(f.Header)) {
			fmt.Fprintf(&b, "  %s: %s\n", key, strings.Join(f.Header[key], ", "))
		}
		for line := range strings.Lines(string(f.Data)) {
			fmt.Fprintf(&b, "  | %s\n", escape(line))
		}
		if f.End != wire.Continue {
			fmt.Fprintf(&b, "  end: %s\n", ends[f.End])
		}
	}
	return b.String()
}

// changes renders only the frames that differ from those without a fault.
func changes(unharmed, frames []wire.Frame) string {
	var b strings.Builder
	same := 0
	for i := range frames {
		if i < len(unharmed) && render(frames[i:i+1]) == render(unharmed[i:i+1]) {
			same++
			continue
		}
		text := strings.TrimPrefix(render(frames[i:i+1]), "frame 0")
		if len(text) > 600 {
			text = text[:600] + "...\n"
		}
		fmt.Fprintf(&b, "frame %d%s", i, text)
	}
	fmt.Fprintf(&b, "%d of %d frames are those without the fault, of %d\n", same, len(frames), len(unharmed))
	return b.String()
}

// escape shows line ends, control characters and bytes that are not UTF-8.
func escape(line string) string {
	var b strings.Builder
	for line != "" {
		r, size := utf8.DecodeRuneInString(line)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, line[0])
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
		line = line[size:]
	}
	return b.String()
}

// The values that most specs share.
var (
	plainCall  = wire.Call{Request: llm.Request{Model: "gpt-4.1-mini"}}
	streamCall = wire.Call{Request: llm.Request{Model: "gpt-4.1-mini", Stream: true}}
	usageCall  = wire.Call{Request: llm.Request{Model: "gpt-4.1-mini", Stream: true}, IncludeUsage: true}

	textAnswer = wire.Completion{
		ID: "chatcmpl-1", Model: "gpt-4.1-mini", Created: time.Unix(1_700_000_000, 0),
		Text:  "Grüße, \"world\" &\n<done> 日本語のとても長い文章",
		Usage: llm.Usage{Input: 20, CachedInput: 5, CacheWrite: 2, Output: 12, Reasoning: 3},
		First: 200 * time.Millisecond, PerToken: 10 * time.Millisecond,
	}
	toolAnswer = wire.Completion{
		ID: "chatcmpl-2", Model: "gpt-4.1-mini", Finish: llm.FinishToolCalls,
		ToolCalls: []llm.ToolCall{
			{ID: "call_1", Name: "read_file", Arguments: `{"path":"a b.txt"}`},
			{ID: "call_2", Name: "list", Arguments: `{}`},
		},
		Usage: llm.Usage{Input: 20, Output: 8},
	}
	offered = []llm.Tool{{Name: "read_file"}}
)

// streamed returns call with Stream set.
func streamed(call wire.Call) wire.Call {
	call.Stream = true
	return call
}
