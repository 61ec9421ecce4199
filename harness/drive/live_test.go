package drive_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// provider is a scripted backend in the role of a live one, with the requests that it received.
type provider struct {
	url  string
	mu   sync.Mutex
	keys []string
}

func newProvider(script string) *provider {
	GinkgoHelper()
	sc, found := scenarios.Parse("p.yaml", []byte("name: p/p\ndrive: {loop: {prompt: x}}\nexpect: {status: done}\nbackend: "+script+"\n"), nil, scenarios.Options{Kinds: kinds.All().Formats()})
	Expect(found).To(BeEmpty())
	program, err := mocks.Compile(sc.Backend.Script)
	Expect(err).NotTo(HaveOccurred())
	server, p := &mocks.Server{}, &provider{}
	Expect(server.Attach("live", mocks.NewEngine(program, mocks.EngineOptions{}))).To(Succeed())
	listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.keys = append(p.keys, r.Header.Get("Authorization"))
		p.mu.Unlock()
		server.ServeHTTP(w, r)
	}))
	DeferCleanup(listening.Close)
	p.url = listening.URL + "/t/live/v1"
	return p
}

func (p *provider) scenario(more string) string {
	return fmt.Sprintf("drive: {loop: {prompt: Work., max_iterations: 5}}\nbackend: {as: live, url: %s, model: gpt-4.1-mini%s}\n", p.url, more)
}

// allowed returns an environment that allows calls to live backends.
func allowed(variables map[string]string) *drive.Env {
	GinkgoHelper()
	env := newEnv()
	env.Live = true
	env.Getenv = func(name string) string { return variables[name] }
	DeferCleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return env
}

func drawOne(env *drive.Env, text string) record.Trial {
	GinkgoHelper()
	t, _ := driver(env, text).Trial(context.Background(), 1)
	return t
}

var _ = Describe("a live backend", Label("H-01"), func() {
	const answers = "{model: gpt-4.1-mini, rules: [{text: DONE, usage: {input: 1000, output: 100}}]}"

	It("answers over the network, with the key of its variable and the cost that it reports", func() {
		p := newProvider(answers)
		t := drawOne(allowed(map[string]string{"SOME_KEY": " live-key-1234 \n"}), p.scenario(", key_env: SOME_KEY"))
		Expect(t.End.HarnessError).To(BeEmpty())
		Expect(t.End.Status).To(Equal("done"))
		Expect(p.keys).To(Equal([]string{"Bearer live-key-1234"}))
		Expect(t.Calls).To(HaveLen(1))
		Expect(t.Calls[0].Backend).To(Equal("live"))
		Expect(t.Calls[0].Usage.Input).To(Equal(1000))
		Expect(t.Script).To(Equal(record.Script{}), "there is no script to find anything about")
		Expect(t.Exchanges).To(BeEmpty())
		Expect(encoded(t)).NotTo(ContainSubstring("live-key-1234"))
	})

	It("needs no key if the scenario names none", func() {
		p := newProvider(answers)
		Expect(drawOne(allowed(nil), p.scenario("")).End.Status).To(Equal("done"))
		Expect(p.keys).To(Equal([]string{""}))
	})

	It("is an error if the variable is empty", func() {
		t := drawOne(allowed(nil), newProvider(answers).scenario(", key_env: SOME_KEY"))
		Expect(t.End.HarnessError).To(ContainSubstring("the variable SOME_KEY, which holds the key of the live backend (key_env), is not set"))
	})

	DescribeTable("is not called", func(prepare func(*drive.Env), want string) {
		p := newProvider(answers)
		env := allowed(nil)
		prepare(env)
		t := drawOne(env, p.scenario(""))
		Expect(t.End.Skipped + t.End.HarnessError).To(ContainSubstring(want))
		Expect(t.Calls).To(BeEmpty())
		Expect(p.keys).To(BeEmpty(), "no call was made")
	},
		Entry("unless it is allowed", func(e *drive.Env) { e.Live = false }, "allow it with --live"),
		Entry("offline, even if it is allowed", func(e *drive.Env) {
			e.Getenv = func(name string) string { return map[string]string{"REHEARSE_OFFLINE": "1"}[name] }
		}, "REHEARSE_OFFLINE forbids"),
		Entry("with an error if it is required", func(e *drive.Env) { e.Live, e.Required = false, true }, "drive the scenario: its backend is live"),
	)

	It("cannot be perturbed", func() {
		_, err := driver(allowed(nil), newProvider(answers).scenario("")).Perturbed([]perturb.Perturbation{{At: perturb.Call, N: 1, Do: "fault"}})
		Expect(err).To(MatchError(ContainSubstring("the backend is live")))
	})

	It("reports errors of the provider as those of any backend", func() {
		p := newProvider("{model: gpt-4.1-mini, rules: [{fault: {kind: status, status: 401, message: no such key, times: 9}}]}")
		t := drawOne(allowed(nil), p.scenario(""))
		Expect(t.End.HarnessError).To(BeEmpty())
		Expect(t.Calls[0].Error.Kind).To(BeEquivalentTo("unauthorized"))
	})
})
