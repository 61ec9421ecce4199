package escape_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/internal/escape"
)

func TestDecodes(t *testing.T) {
	for _, c := range []struct {
		encoding  escape.Encoding
		text, out string
	}{
		{escape.JSON, `a\nb\t\"\\\/\u0041\ud83d\ude00\x1b\'`, "a\nb\t\"\\/A😀\x1b'"},
		{escape.JSON, `\ud83dx`, "\uFFFDx"},
		{escape.JSON, `\d \`, ""},
		{escape.JSON, `\u00zz\xff\u12`, ""},
		{escape.JSON, `C:\d\n`, "C:\\d\n"},
		{escape.Percent, "a%2Fb%2f%20%zz%", "a/b/ %zz%"},
		{escape.Percent, "100%", ""},
		{escape.Percent, "%c3%a9%f0%9f%98%80 %c3 %ff", "é😀 %c3 %ff"},
		{escape.Percent, "%c3%zz", ""},
	} {
		out, ok := c.encoding.Decode(c.text)
		if out != c.out || ok != (c.out != "") {
			t.Errorf("%q became %q, %v; want %q", c.text, out, ok, c.out)
		}
	}
}

// A part of the decoded text is written with the part of the source that the cursor names.
func TestCursor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"a", "\n", `"`, `\`, "é", "😀", "%", "/", "n", "u0041", " "})).Draw(t, "parts")
		encoding, write := escape.JSON, func(s string) string { b, _ := json.Marshal(s); return string(b[1 : len(b)-1]) }
		if rapid.Bool().Draw(t, "url") {
			encoding, write = escape.Percent, url.PathEscape
		}
		source, text := "", ""
		for _, p := range parts {
			source, text = source+write(p), text+p
		}
		decoded, ok := encoding.Decode(source)
		if !ok {
			decoded = source
		}
		from := rapid.IntRange(0, len(decoded)).Draw(t, "from")
		to := rapid.IntRange(from, len(decoded)).Draw(t, "to")
		c := encoding.Cursor(source)
		a := c.Begin(from)
		b := c.End(to)
		piece := source[a:max(a, b)]
		if again, ok := encoding.Decode(piece); ok {
			piece = again
		}
		if !strings.Contains(piece, decoded[from:to]) || len(piece) > to-from+12 {
			t.Fatalf("%q[%d:%d] is %q[%d:%d], which is %q", decoded, from, to, source, a, b, piece)
		}
	})
}
