package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/queue"
)

// The usage that the provider reports, and its price.
const (
	providerUsage = `{"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}`
	providerUSD   = 1000*0.40/1e6 + 100*1.60/1e6 // gpt-4.1-mini
)

// provider is a live model on this machine that counts its calls.
type provider struct {
	*httptest.Server
	latency time.Duration
	// limit is the number of requests that it allows in a second; 0 for any. It refuses all others, and
	// request refuseNth and those in the second after it.
	limit, refuseNth int

	mu       sync.Mutex
	answered int
	requests []time.Time
	until    time.Time // refuses before
	tooFast  int       // requests over the limit
	tooSoon  int       // requests in the second that it asked to wait
	keys     map[string]bool
}

func newProvider(f *testFleet, p *provider) *provider {
	p.keys = map[string]bool{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if wait := p.refused(r); wait != "" {
			w.Header().Set("Retry-After", wait)
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		select {
		case <-time.After(p.latency):
		case <-r.Context().Done():
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id": "1", "object": "chat.completion", "model": "gpt-4.1-mini", "usage": %s, "choices":
			[{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "DONE"}}]}`, providerUsage)
	}))
	f.t.Cleanup(p.Close)
	f.env = append(f.env, "REHEARSE_OFFLINE=", "PROVIDER_KEY=key-of-the-worker")
	return p
}

// refused counts a request, and returns the seconds to wait if it is refused.
func (p *provider) refused(r *http.Request) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.keys[r.Header.Get("Authorization")] = true
	p.requests = append(p.requests, now)
	recent := 0
	for _, at := range p.requests {
		if now.Sub(at) < time.Second {
			recent++
		}
	}
	switch {
	case now.Before(p.until):
		p.tooSoon++
		return "1"
	case p.limit > 0 && recent > p.limit:
		p.tooFast++
		return "1"
	case len(p.requests) == p.refuseNth:
		p.until = now.Add(time.Second)
		return "1"
	}
	p.answered++
	return ""
}

// calls returns the number of calls that were answered, and paid.
func (p *provider) calls() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answered
}

// live writes a scenario that drives the loop with the provider. A trial makes one call.
func (f *testFleet) live(p *provider, name, model string) {
	f.t.Helper()
	text := fmt.Sprintf(`name: %s
drive: {loop: {prompt: Say DONE., max_iterations: 3}}
backend: {as: live, url: %s/v1, key_env: PROVIDER_KEY, model: %s}
expect: {status: done}
`, name, p.URL, model)
	f.Expect(os.WriteFile(filepath.Join(f.dir, "scenarios", name+".yaml"), []byte(text), 0o600)).To(gomega.Succeed())
}

// TestFleetKeepsItsCap is H-04: however many workers call a live model, and are killed meanwhile, it is not
// paid more than --max-cost. The run can be resumed with a higher cap.
func TestFleetKeepsItsCap(t *testing.T) {
	f := newFleet(t)
	p := newProvider(f, &provider{latency: 100 * time.Millisecond})
	f.live(p, "live", "gpt-4.1-mini")
	workers := []*process{f.worker(), f.worker(), f.worker(), f.worker()}
	run := f.run("spread", "live", "--trials", "1000", "--live", "--max-cost", "0.08USD")
	for n := range 3 {
		f.Eventually(p.calls).WithTimeout(time.Minute).Should(gomega.BeNumerically(">=", 6*(n+1)))
		workers[n].kill()
		workers[n] = f.worker()
	}
	f.exits(run, exitNoVerdict)
	f.Expect(float64(p.calls()) * providerUSD).To(gomega.BeNumerically("<=", 0.08))
	f.Expect(p.calls()).To(gomega.BeNumerically(">=", 20))
	f.Expect(f.read("spread/report.json")).To(gomega.MatchRegexp(`the budget of 0.08 USD is used up: \d+ live calls cost 0.0\d+ USD, and the next one can cost 0.0\d+ USD`))
	f.Expect(run.output.String()).To(gomega.ContainSubstring("limits the output of live calls to 4096 tokens"))
	status := f.status().Runs[0]
	f.Expect(status.SpentUSD).To(gomega.BeNumerically("<=", 0.08))
	f.Expect(status.SpentUSD).To(gomega.BeNumerically(">=", float64(p.calls())*providerUSD-1e-9))
	f.Expect(status.Calls).To(gomega.BeNumerically(">=", p.calls()))

	before, spent := p.calls(), status.SpentUSD
	run = f.run("spread", "live", "--trials", "1000", "--live", "--max-cost", "0.10USD", "--resume", f.key())
	f.exits(run, exitNoVerdict)
	f.Expect(p.calls()).To(gomega.BeNumerically(">", before))
	f.Expect(spent + float64(p.calls()-before)*providerUSD).To(gomega.BeNumerically("<=", 0.10))
}

// TestFleetCountsLiveCalls is H-04: --max-calls allows exactly as many calls of live models.
func TestFleetCountsLiveCalls(t *testing.T) {
	f := newFleet(t)
	p := newProvider(f, &provider{})
	f.live(p, "live", "gpt-4.1-mini")
	f.worker()
	f.worker()
	run := f.run("spread", "live", "--trials", "20", "--live", "--max-calls", "7")
	f.exits(run, exitNoVerdict)
	f.Expect(p.calls()).To(gomega.Equal(7))
	f.Expect(run.output.String()).To(gomega.ContainSubstring("the budget of 7 calls is used up"))
	f.Expect(p.keys).To(gomega.Equal(map[string]bool{"Bearer key-of-the-worker": true}))
}

// TestFleetRefusesUnknownPrices is H-04: a cost that is unknown cannot be limited, so nothing is called.
func TestFleetRefusesUnknownPrices(t *testing.T) {
	f := newFleet(t)
	p := newProvider(f, &provider{})
	f.live(p, "live", "house-model, unpriced: true")
	f.worker()
	run := f.run("spread", "live", "--live", "--max-cost", "1USD")
	f.exits(run, exitUsage)
	f.Expect(run.output.String()).To(gomega.ContainSubstring(`the price of the model "house-model" of the scenario live is unknown`))
	f.Expect(p.calls()).To(gomega.BeZero())
	f.Expect(f.status().Runs).To(gomega.BeEmpty())
}

// TestFleetNeedsKeys is H-04: a worker without the key of a live model, or that is offline, takes no part.
func TestFleetNeedsKeys(t *testing.T) {
	f := newFleet(t)
	p := newProvider(f, &provider{})
	f.live(p, "live", "gpt-4.1-mini")
	env := f.env
	f.env = slices.Concat(env, []string{"PROVIDER_KEY="})
	f.worker()
	f.env = slices.Concat(env, []string{"REHEARSE_OFFLINE=1"})
	f.worker()
	f.env = env
	run := f.run("spread", "live", "--live")
	f.Eventually(run.output.String).WithTimeout(time.Minute).Should(gomega.And(
		gomega.ContainSubstring("cannot take part: the variable PROVIDER_KEY, which holds the key of the live backend of live, is not set here"),
		gomega.ContainSubstring("cannot take part: REHEARSE_OFFLINE forbids real models here"),
	))
	f.Expect(p.calls()).To(gomega.BeZero())
	f.worker()
	f.exits(run, exitPass)
	f.Expect(p.calls()).To(gomega.Equal(1))
}

// TestFleetPacesProviders is H-04: workers together keep to --rate, and all of them wait when the provider
// asks one of them to. The provider allows twice the rate, so that a busy machine is not an error.
func TestFleetPacesProviders(t *testing.T) {
	f := newFleet(t)
	p := newProvider(f, &provider{limit: 10, refuseNth: 4})
	f.live(p, "live", "gpt-4.1-mini")
	for range 4 {
		f.worker()
	}
	f.until("all workers are there", func(s queue.Status) bool { return len(s.Workers) == 4 })
	f.exits(f.run("spread", "live", "--trials", "16", "--live", "--rate", "5/s"), exitPass)
	f.Expect(p.calls()).To(gomega.Equal(16))
	f.Expect(p.tooFast).To(gomega.BeZero())
	f.Expect(p.tooSoon).To(gomega.BeNumerically("<=", 1), "requests while the provider asked to wait")
}

// TestFleetStopsAtTheSameTrial is H-04: with scripted models, --max-cost cuts a run where one machine does.
func TestFleetStopsAtTheSameTrial(t *testing.T) {
	f := newFleet(t)
	args := []string{"loop/golden-*", "--trials", "40", "--max-cost", "0.02USD"}
	f.alone(exitNoVerdict, args...)
	f.worker()
	f.worker()
	run := f.run("spread", args...)
	f.exits(run, exitNoVerdict)
	f.Expect(run.output.String()).To(gomega.ContainSubstring("the budget of 0.02 USD is used up"))
	f.Expect(f.read("spread/recording.jsonl")).To(gomega.Equal(f.read("alone/recording.jsonl")), "the recordings differ")
}
