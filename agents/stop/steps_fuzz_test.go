package stop_test

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/stop"
)

// FuzzSteps looks for a message whose steps are not whole: a mention is put at
// each word that a lexicon would look at.
func FuzzSteps(f *testing.F) {
	f.Add("Done.\n\n## Next steps\n1. Test\n2. Deploy")
	f.Add("Il reste à tester, documenter et déployer — puis je te préviens.")
	f.Add("Would you like me to: a) write it, b) read it, or stop?")
	f.Add("| x | to do |\n\nLet me `run")
	f.Fuzz(func(t *testing.T, message string) {
		var mentions []stop.Mention
		for _, form := range []string{"prose", "heading", "lead", "item", "box", "offer"} {
			for _, word := range strings.Fields(message)[:min(8, len(strings.Fields(message)))] {
				mentions = append(mentions, stop.Mention{Form: form, Phrase: word, Category: stop.RemainingTasks})
			}
		}
		if err := checkSteps(message, stop.StepsOf(message, mentions...)); err != nil {
			t.Error(err)
		}
	})
}
