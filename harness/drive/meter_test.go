package drive_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
)

// limits is a drive.LiveMeter that remembers the calls.
type limits struct {
	maxOutput int
	refusal   error
	hosts     []string
	calls     []drive.Call
	costs     []float64
}

func (l *limits) MaxOutput() int { return l.maxOutput }

func (l *limits) Pacer(host string) openai.Pacer {
	l.hosts = append(l.hosts, host)
	return l
}

func (*limits) Wait(context.Context) error                 { return nil }
func (*limits) Pause(context.Context, time.Duration) error { return nil }

func (l *limits) Reserve(_ context.Context, call drive.Call) (drive.Settle, error) {
	if l.refusal != nil {
		return nil, l.refusal
	}
	l.calls = append(l.calls, call)
	return func(reply llm.Reply, err error) {
		if call.Live {
			l.costs = append(l.costs, call.CostUSD(reply, err))
		}
	}, nil
}

// meteredTrial runs a trial whose calls are metered.
func meteredTrial(env *drive.Env, l *limits, text string) record.Trial {
	GinkgoHelper()
	t, _ := driver(env, text).Trial(drive.WithMeter(context.Background(), l), 1)
	return t
}

var _ = Describe("a meter of live calls", Label("H-04"), func() {
	const answers = "{model: gpt-4.1-mini, rules: [{text: DONE, usage: {input: 1000, output: 100}}]}"
	const usd = 1000*0.40/1e6 + 100*1.60/1e6

	It("learns the most that a call can cost before it, and the cost after it", func() {
		p := newProvider(answers)
		l := &limits{maxOutput: 500}
		t := meteredTrial(allowed(nil), l, p.scenario(", retry: 2"))
		Expect(t.End.Status).To(Equal("done"))
		Expect(l.calls).To(HaveLen(1))
		most := l.calls[0].MostUSD
		Expect(most).To(BeNumerically(">", 3*(usd+400*1.60/1e6)), "for 3 attempts of 500 tokens")
		Expect(most).To(BeNumerically("<", 3*(10_000*0.40/1e6+500*1.60/1e6)))
		Expect(l.costs).To(HaveExactElements(BeNumerically("~", usd, 1e-12)))
		Expect(p.url).To(ContainSubstring(l.hosts[0]))
	})

	It("is not asked about more than that a scripted call is made", func() {
		l := &limits{}
		t := meteredTrial(newEnv(), l, "drive: {loop: {prompt: Work.}}\nbackend: {model: gpt-4.1-mini, replies: [{text: DONE}]}")
		Expect(t.End.Status).To(Equal("done"))
		Expect(l.calls).To(Equal([]drive.Call{{}}))
		Expect(l.hosts).To(BeEmpty())
	})

	It("refuses a call before it is made", func() {
		p := newProvider(answers)
		t := meteredTrial(allowed(nil), &limits{refusal: errors.New("no money")}, p.scenario(""))
		Expect(t.Calls[0].Error.Message).To(ContainSubstring("no money"))
		Expect(p.keys).To(BeEmpty())
	})

	It("limits the output of calls, as the server is told", func() {
		var body []byte
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ = io.ReadAll(r.Body)
			w.WriteHeader(http.StatusBadRequest)
		}))
		DeferCleanup(server.Close)
		p := &provider{url: server.URL}
		meteredTrial(allowed(nil), &limits{maxOutput: 77}, p.scenario(""))
		Expect(string(body)).To(ContainSubstring(`"max_tokens":77`))
		meteredTrial(allowed(nil), &limits{}, p.scenario(""))
		Expect(string(body)).NotTo(ContainSubstring("max_tokens"))
	})

	DescribeTable("counts what may have been paid", func(reply llm.Reply, err error, attempts float64) {
		l := &limits{}
		meteredTrial(allowed(nil), l, newProvider(answers).scenario(", retry: 3"))
		each := l.calls[0].MostUSD / 4
		Expect(l.calls[0].CostUSD(reply, err)).To(BeNumerically("~", attempts*each, 1e-12))
	},
		Entry("an error status is free", llm.Reply{}, &llm.Error{Kind: llm.RateLimited, Status: 429}, 0.0),
		Entry("also in earlier attempts", llm.Reply{}, &llm.Error{Kind: llm.Unavailable, Status: 503, Retries: []llm.Retry{{Status: 500}, {Status: 429}}}, 0.0),
		Entry("as is no connection", llm.Reply{}, &llm.Error{Kind: llm.Unavailable, Err: &net.OpError{Op: "dial"}}, 0.0),
		Entry("but not one that broke", llm.Reply{}, &llm.Error{Kind: llm.Unavailable, Err: &net.OpError{Op: "read"}}, 1.0),
		Entry("an answer without usage is not", llm.Reply{Text: "DONE"}, nil, 1.0),
		Entry("nor one with an empty usage", llm.Reply{Usage: &llm.Usage{}}, nil, 1.0),
		Entry("nor one of a model without a price", llm.Reply{Model: "house-model", Usage: &llm.Usage{Input: 1}}, nil, 1.0),
		Entry("nor no answer", llm.Reply{}, &llm.Error{Kind: llm.Unavailable}, 1.0),
		Entry("nor one that was cut off", llm.Reply{}, &llm.Error{Kind: llm.Truncated, Status: 200}, 1.0),
		Entry("nor any attempt of a call that was abandoned", llm.Reply{}, context.Canceled, 4.0),
		Entry("nor each such attempt", llm.Reply{}, &llm.Error{Kind: llm.Timeout, Retries: []llm.Retry{{Kind: llm.Truncated, Status: 200}, {Status: 429}}}, 2.0),
	)
})
