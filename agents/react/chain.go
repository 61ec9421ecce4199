package react

import (
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react/verify"
)

// readChain reads a verification in the tick form.
func readChain(text string) ([]verify.Answer, error) {
	var all []verify.Answer
	for _, p := range verify.Parts() {
		_, said, ok := strings.Cut(text, string(p)+":")
		if !ok {
			continue
		}
		said, _, _ = strings.Cut(said, "\n")
		all = append(all, verify.Answer{Part: p, Passed: !strings.Contains(said, "✗"), Text: strings.TrimSpace(said)})
	}
	return all, nil
}

func judgeChain(answers []verify.Answer, _ verify.Contract) verify.Record {
	r := verify.Record{Answers: answers}
	for _, a := range answers {
		if !a.Passed {
			r.Findings = append(r.Findings, verify.Finding{Part: a.Part, Message: "the agent says that it does not hold: " + a.Text})
		}
	}
	return r
}
