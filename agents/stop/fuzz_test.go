package stop_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/agents/stop"
)

// FuzzJudge feeds any bytes to the guard: it has a sound verdict on all.
func FuzzJudge(f *testing.F) {
	for _, seed := range pieces {
		f.Add(seed)
	}
	f.Add("Terminé. Actions restantes:\n- Test\n- Deploy\n- Doc")
	f.Add("You asked for 3 of 5.\n\n| a | to do |\n|---|---|\n| b | [ ] |\n\nShall I go on?")
	f.Fuzz(func(t *testing.T, message string) {
		sound(t, message, stop.Judge(message, stop.Options{Policy: stop.Strict}))
	})
}
