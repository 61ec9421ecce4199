package command_test

import (
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/app/command"
)

// FuzzAnswer reads what any program might print: the answer is text, or the error says
// that it cannot be used.
func FuzzAnswer(f *testing.F) {
	f.Add("{\"a\":\"x\"}\n{\"a\":null}\n")
	f.Add("It is this.\r\n")
	f.Add("\x00\xff")
	f.Add(`{"a":"\ud800"}`)
	f.Fuzz(func(t *testing.T, out string) {
		for _, output := range []string{command.Text, command.JSON, command.JSONL} {
			answer, err := command.Read(command.Config{Run: []string{"x"}, Output: output, Answer: "$.a"}, []byte(out))
			if failed, ok := errors.AsType[*app.Error](err); err != nil && (!ok || failed.Kind != app.Unusable) {
				t.Fatal(err)
			}
			if !utf8.ValidString(answer.Text) || !utf8.ValidString(answer.Raw) {
				t.Fatalf("%s: %q", output, answer.Text)
			}
		}
	})
}
