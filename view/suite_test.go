package view_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/history/store"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/reports/rundir"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
	"github.com/rehearse-dev/rehearse/view"
)

func TestView(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "view")
}

var _ = BeforeEach(func() {
	before := gleak.Goroutines()
	DeferCleanup(func() { Eventually(gleak.Goroutines).WithTimeout(20 * time.Second).ShouldNot(gleak.HaveLeaked(before)) })
})

// start is the time of the first run.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// shown is a scenario of a recording with what its trials answer.
type shown struct {
	name    string
	answers []string
	status  string // "done" passes
}

// trialOf returns a trial that answers with a text.
func trialOf(scenario string, n int, answer, status string) record.Trial {
	return record.Trial{
		Head: record.TrialHead{Scenario: scenario, N: n, Seed: uint64(n)},
		Messages: []record.Message{
			{ID: "m1", Message: llm.Message{Role: llm.User, Content: "Prompt: " + answer}},
			{ID: "m2", Message: llm.Message{Role: llm.Assistant, Content: answer}},
		},
		Calls: []record.Call{{
			N: 1, Latency: 2 * time.Second, Purpose: "loop", Backend: "openai", Model: "gpt-4.1-mini",
			Messages: []string{"m1"}, Reply: "m2", Finish: llm.FinishStop, Usage: &llm.Usage{Input: 52, Output: 7, Source: llm.UsageCounted},
		}},
		Events: []record.Event{{At: 2 * time.Second, Event: event.Event{Kind: event.End, Name: status, Detail: answer}}},
		End:    record.End{Status: status, Iterations: 1, Duration: 2 * time.Second, Text: answer},
	}
}

// recordingOf writes a recording.
func recordingOf(w io.Writer, id string, list ...shown) {
	GinkgoHelper()
	trials := 0
	for _, s := range list {
		trials += len(s.answers)
	}
	out, err := record.NewWriter(w, record.Run{ID: id, Tool: "rehearse test", Prices: "2026-01-01", Scenarios: len(list), Trials: trials})
	Expect(err).NotTo(HaveOccurred())
	for _, s := range list {
		Expect(out.Scenario(record.Scenario{
			Name: s.name, Digest: "sha256:" + s.name, Agent: "loop", Backend: "openai", About: s.name, Trials: len(s.answers),
			Expect: expect.Expect{Status: "done"},
		})).To(Succeed())
		for i, answer := range s.answers {
			lines, err := record.Encode(trialOf(s.name, i+1, answer, s.status))
			Expect(err).NotTo(HaveOccurred())
			Expect(out.Trial(lines)).To(Succeed())
		}
	}
	Expect(out.Close(record.Close{Trials: trials})).To(Succeed())
}

// fixture is a history with the folders of its runs.
type fixture struct {
	dir    string
	past   *store.Store
	runs   []history.Run
	server *view.Server
	http   *httptest.Server
	client *http.Client
}

const token = "0123456789abcdef"

// keep is a history that stays open.
type keep struct{ *store.Store }

func (keep) Close() error { return nil }

func newFixture(ctx context.Context) *fixture {
	GinkgoHelper()
	f := &fixture{dir: GinkgoT().TempDir()}
	var err error
	f.past, err = store.Open(ctx, "memory:", func() time.Time { return start.AddDate(0, 1, 0) })
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(f.past.Close)
	f.serve(view.Options{})
	return f
}

// serve starts the server with options that differ from the usual ones.
func (f *fixture) serve(opts view.Options) {
	GinkgoHelper()
	opts.Language, opts.Token, opts.Poll, opts.Tool = kinds.Language(), token, 5*time.Millisecond, "rehearse test"
	if opts.Runs == "" {
		opts.Runs = filepath.Join(f.dir, "runs")
	}
	if opts.History == nil {
		opts.History = func(context.Context) (view.History, error) { return keep{f.past}, nil }
	}
	server, err := view.New(opts)
	Expect(err).NotTo(HaveOccurred())
	f.server, f.http = server, httptest.NewServer(server.Handler())
	DeferCleanup(f.http.Close)
	f.client = f.http.Client()
	DeferCleanup(f.client.CloseIdleConnections)
}

// add adds a run n hours after the start.
func (f *fixture) add(ctx context.Context, n int, change func(*history.Run), list ...shown) history.Run {
	GinkgoHelper()
	folder := filepath.Join(f.dir, "runs", start.Add(time.Duration(n)*time.Hour).Format("20060102-150405"))
	Expect(os.MkdirAll(folder, 0o700)).To(Succeed())
	path := filepath.Join(folder, "recording.jsonl")
	file, err := os.Create(path)
	Expect(err).NotTo(HaveOccurred())
	recordingOf(file, "plan", list...)
	Expect(file.Close()).To(Succeed())
	e, err := rundir.ReadEntry(ctx, path, kinds.Language())
	Expect(err).NotTo(HaveOccurred())
	e.Began, e.Branch = start.Add(time.Duration(n)*time.Hour), "main"
	e.Ended = e.Began.Add(time.Second)
	e.ID = history.NewID(e.SHA256, e.Began, folder)
	if change != nil {
		change(&e.Run)
	}
	Expect(f.past.Add(ctx, &e, false)).To(BeTrue())
	f.runs = append(f.runs, e.Run)
	return e.Run
}

// answer is a response with its body.
type answer struct {
	*http.Response
	body string
}

// get requests a page with the token.
func (f *fixture) get(path string) answer {
	GinkgoHelper()
	return f.request(path, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) })
}

func (f *fixture) request(path string, change func(*http.Request)) answer {
	GinkgoHelper()
	r, err := http.NewRequest(http.MethodGet, f.http.URL+path, nil)
	Expect(err).NotTo(HaveOccurred())
	change(r)
	client := *f.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := client.Do(r)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	return answer{response, string(body)}
}

// text returns a page that must be there.
func (f *fixture) text(path string) string {
	GinkgoHelper()
	a := f.get(path)
	Expect(a.StatusCode).To(Equal(http.StatusOK), "%s: %s", path, a.body)
	Expect(a.Header.Get("Content-Security-Policy")).To(ContainSubstring("default-src 'none'"))
	Expect(strings.Count(a.body, "<script")).To(Equal(1), "only the server's own script")
	return a.body
}
