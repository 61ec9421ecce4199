package tutor_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/sashabaranov/go-openai"

	"github.com/rehearse-dev/rehearse/examples/ginkgo"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/match"
)

// lesson returns the agent for one conversation, with the scripted backend as its model.
func lesson(site app.Site) func(context.Context, string) (string, error) {
	config := openai.DefaultConfig(app.Key)
	config.BaseURL, config.HTTPClient = site.Backend+"/v1", site.Client
	t := &tutor.Tutor{
		Client: openai.NewClientWithConfig(config),
		Look:   func(word string) string { return word + ": fourteen lines that rhyme" },
	}
	return t.Answer
}

// rehearse drives the tutor through a scenario.
func rehearse(ctx context.Context, file string) *harness.Result {
	GinkgoHelper()
	res, err := harness.Rehearse(ctx, harness.Rehearsal{
		Files:  []string{file},
		Makers: map[string]app.Maker{"tutor": lesson},
	})
	Expect(err).NotTo(HaveOccurred())
	Expect(res).To(match.Pass())
	return res
}

var _ = Describe("The tutor", func() {
	It("looks up unknown words and asks one question at a time", func(ctx context.Context) {
		lesson := rehearse(ctx, "scenarios/word.yaml")
		Expect(lesson).To(match.CallsFor("teach", 3))
		Expect(lesson).To(match.Said("fourteen lines"))
		Expect(lesson).To(match.Answered(HavePrefix("Shakespeare")))
		Expect(lesson).To(match.OneQuestionAtATime())
		Expect(lesson).To(match.Tokens(BeNumerically("<", 300)))
		Expect(lesson).To(match.CostAtMost("0.001 EUR"))
		Expect(lesson).To(match.LatencyAtMost(0.95, 2*time.Second))
	})

	It("gives up if the model repeats itself", func(ctx context.Context) {
		Expect(rehearse(ctx, "scenarios/lost.yaml")).To(match.Calls(4))
	})

	It("fails if the connection is lost", func(ctx context.Context) {
		lesson := rehearse(ctx, "scenarios/cut.yaml")
		Expect(lesson).To(match.FaultFired("reset-mid-stream"))
		Expect(lesson).To(match.EndedWith("failed"))
	})
})
