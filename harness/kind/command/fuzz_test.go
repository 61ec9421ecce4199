package command

import (
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/harness/app"
)

// FuzzAnswer reads arbitrary output: the answer is valid text, or the error is Unusable.
func FuzzAnswer(f *testing.F) {
	f.Add("{\"a\":\"x\"}\n{\"a\":null}\n")
	f.Add("It is this.\r\n")
	f.Add("\x00\xff")
	f.Add(`{"a":"\ud800"}`)
	f.Fuzz(func(t *testing.T, out string) {
		for _, output := range []string{"text", "json", "jsonl"} {
			a, err := New(Options{Launch: Launch{Run: []string{"x"}}, Output: output, Answer: "$.a"})
			if err != nil {
				t.Fatal(err)
			}
			answer, err := a.(*agent).read([]byte(out))
			if failed, ok := errors.AsType[*app.Error](err); err != nil && (!ok || failed.Kind != app.Unusable) {
				t.Fatal(err)
			}
			if !utf8.ValidString(answer.Text) || !utf8.ValidString(answer.Raw) {
				t.Fatalf("%s: %q", output, answer.Text)
			}
		}
	})
}
