package harness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/gate"
)

// ask sends one prompt to the model, as OpenAI's API takes it, and returns the answer.
func ask(ctx context.Context, site app.Site, prompt string) (string, error) {
	body, err := json.Marshal(map[string]any{
		"model": "gpt-4.1-mini", "messages": []any{map[string]string{"role": "user", "content": prompt}},
	})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, site.Backend+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+app.Key)
	resp, err := site.Client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var reply struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
		return "", err
	}
	return reply.Choices[0].Message.Content, nil
}

const clerk = `
name: clerk/hours
drive:
  function: {name: clerk, turns: [When do you open?, And on Sunday?]}
backend:
  model: gpt-4.1-mini
  replies:
    - {text: At nine., latency: 1h}
    - {text: We are closed.}
expect: {status: done, calls: 2}
`

var _ = Describe("a rehearsal", func() {
	It("drives a Go function in virtual time", func(ctx context.Context) {
		res, err := harness.Rehearse(ctx, harness.Rehearsal{Text: strings.Replace(clerk, "latency: 1h", "latency: 20s", 1), Functions: map[string]app.Function{"clerk": ask}})
		Expect(err).NotTo(HaveOccurred())
		GinkgoWriter.Println(res.Trials[0])
		Expect(res.Verdict).To(Equal(gate.Pass), "%s", res)
		Expect(res.Trials[0].Facts.Run.Duration).To(BeNumerically("~", 20, 1))
		Expect(res.Trials[0].Facts.Run.Text).To(Equal("We are closed."))
	})
	It("says what happened", func(ctx context.Context) {
		res, err := harness.Rehearse(ctx, harness.Rehearsal{
			Text: clerk, Functions: map[string]app.Function{"clerk": ask},
		})
		Expect(err).NotTo(HaveOccurred())
		GinkgoWriter.Println(res)
		Expect(res.Verdict).To(Equal(gate.Fail))
	})
})
