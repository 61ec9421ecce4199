package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/agents/interview/web"
	"github.com/rehearse-dev/rehearse/agents/interview/web/telemetry"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm/openai"
	tokens "github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios/cast"
)

// crowd is how many candidates take an interview at once.
const crowd = 100

// town is a whole service as it is deployed, on loopback sockets: the server, the
// store, the real client and, behind another socket, a model that answers at
// once.
type town struct {
	store   session.Store
	persona cast.Persona
	url     string
	client  *http.Client
	latency *latencies
}

// newTown serves interviews from a store.
func newTown(tb testing.TB, dsn string) *town {
	t := &town{latency: &latencies{}, client: &http.Client{Transport: pooled(tb)}}
	must := func(err error) {
		if err != nil {
			tb.Helper()
			tb.Fatal(err)
		}
	}
	var err error
	t.persona, err = cast.Load("lea")
	must(err)
	kept, err := store.Open(context.Background(), dsn)
	must(err)
	tb.Cleanup(func() { must(kept.Close()) })
	metrics := telemetry.NewMetrics()
	t.store = metrics.Store(kept)

	count := tokens.NewCounter(tokens.Options{}).Count
	backend, err := openai.New(openai.Config{
		BaseURL: promptModel(tb, t.persona.Name, count), Model: "gpt-4.1", Offline: true,
		Transport: pooled(tb), Retry: openai.RetryPolicy{Max: -1},
	})
	must(err)
	service, err := interview.New(interview.Options{Model: "gpt-4.1", Instance: "one"}, interview.Deps{
		Store: t.store, Backend: backend, Clock: clock.Real(), Sink: metrics, Count: count,
	})
	must(err)
	server, err := web.New(web.Options{}, web.Deps{Service: service, Store: t.store, Clock: clock.Real(), Metrics: metrics})
	must(err)
	t.url = listen(tb, server)
	return t
}

// pooled is a transport that keeps a connection for everybody.
func pooled(tb testing.TB) *http.Transport {
	t := &http.Transport{MaxIdleConnsPerHost: 2 * crowd}
	tb.Cleanup(t.CloseIdleConnections)
	return t
}

// promptModel serves the replies to a persona without any latency, and returns
// its API's address.
func promptModel(tb testing.TB, persona string, count func(model, text string) int) string {
	script, err := cast.Replies(persona)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range script.Rules {
		script.Rules[i].Latency = nil
	}
	program, err := mocks.Compile(script)
	if err != nil {
		tb.Fatal(err)
	}
	var models mocks.Server
	if err := models.Attach("", mocks.NewEngine(program, mocks.EngineOptions{Count: count, Keep: 1})); err != nil {
		tb.Fatal(err)
	}
	server := httptest.NewServer(&models)
	tb.Cleanup(server.Close)
	return server.URL + "/v1"
}

// listen serves until the test ends, and returns the address.
func listen(tb testing.TB, server *web.Server) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	tb.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	})
	return "http://" + listener.Addr().String()
}

// post sends a submission and returns what is shown.
func (t *town) post(fields map[string]any) (v interview.View, err error) {
	body, err := json.Marshal(fields)
	if err != nil {
		return v, err
	}
	res, err := t.client.Post(t.url+"/axiom", "application/json", bytes.NewReader(body))
	if err != nil {
		return v, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return v, err
	}
	if res.StatusCode != http.StatusOK {
		return v, fmt.Errorf("status %d: %s", res.StatusCode, text)
	}
	return v, json.Unmarshal(text, &v)
}

// taken is one interview that was taken.
type taken struct {
	session string
	said    []string // by the candidate
	steps   int
}

// take takes an interview. Each step begins when pace returns, and its latency
// counts from the time that pace returns, whenever it is really sent.
func (t *town) take(candidate string, pace func(step int) time.Time) (taken, error) {
	house := house{persona: t.persona}
	fields := map[string]any{"event": "START", "language": t.persona.Language, "candidateId": candidate}
	var out taken
	for {
		due := pace(out.steps)
		v, err := t.post(fields)
		t.latency.add(time.Since(due))
		if err != nil {
			return out, fmt.Errorf("step %d of %s: %w", out.steps, candidate, err)
		}
		out.steps++
		out.session = v.SessionID
		if v.Finished {
			return out, nil
		}
		fields = map[string]any{"sessionId": v.SessionID, "replyTo": v.MessageID, "submissionId": fmt.Sprint("s", out.steps)}
		if text := house.reply(v); text != "" {
			fields["message"], out.said = text, append(out.said, text)
		} else {
			fields["event"] = "GO"
		}
	}
}

// at once is the pace of somebody who answers as soon as a question is shown.
func atOnce(int) time.Time { return time.Now() }

// fill takes a crowd of interviews at once.
func (t *town) fill(pace func(candidate int) func(step int) time.Time) ([]taken, error) {
	all, errs := make([]taken, crowd), make([]error, crowd)
	var group sync.WaitGroup
	for i := range crowd {
		group.Go(func() { all[i], errs[i] = t.take(fmt.Sprint("candidate-", i), pace(i)) })
	}
	group.Wait()
	return all, errors.Join(errs...)
}

// latencies collects how long steps took.
type latencies struct {
	mu  sync.Mutex
	all []time.Duration
}

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, d)
}

// drain returns a quantile and forgets all.
func (l *latencies) drain(q float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(l.all)
	at := l.all[int(q*float64(len(l.all)-1))]
	l.all = nil
	return at
}

var _ = DescribeTable("A hundred candidates at once", Label("I-04", "I-13", "I-18"), func(ctx SpecContext, dsn func() string) {
	before := gleak.Goroutines()
	DeferCleanup(func() { Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before)) })
	town := newTown(GinkgoTB(), dsn())
	all, err := town.fill(func(int) func(int) time.Time { return atOnce })
	Expect(err).NotTo(HaveOccurred())
	sessions := map[string]bool{}
	for _, one := range all {
		sessions[one.session] = true
		s, err := town.store.Load(ctx, one.session)
		Expect(err).NotTo(HaveOccurred())
		Expect(s.Phase).To(Equal(session.Finished))
		calls, err := town.store.Calls(ctx, one.session)
		Expect(err).NotTo(HaveOccurred())
		Expect(calls).To(HaveLen(24))
		Expect(calls).To(HaveEach(HaveField("Outcome", session.Accepted)))
		answers, err := town.store.Answers(ctx, one.session)
		Expect(err).NotTo(HaveOccurred())
		var kept []string
		for _, a := range answers {
			kept = append(kept, a.Text)
		}
		Expect(kept).To(Equal(one.said))
	}
	Expect(sessions).To(HaveLen(crowd))
},
	Entry("in memory", func() string { return "memory:" }),
	Entry("in a file", func() string { return filepath.Join(GinkgoT().TempDir(), "sessions.db") }),
)

// stores are those that the benchmarks fill.
func stores(b *testing.B, run func(b *testing.B, dsn string)) {
	b.Run("memory", func(b *testing.B) { run(b, "memory:") })
	b.Run("file", func(b *testing.B) { run(b, filepath.Join(b.TempDir(), "sessions.db")) })
}

// BenchmarkCrowd is a hundred candidates who answer at once: as many steps as the
// service can do.
func BenchmarkCrowd(b *testing.B) {
	stores(b, func(b *testing.B, dsn string) {
		town, steps := newTown(b, dsn), 0
		for b.Loop() {
			steps += count(b, town, func(int) func(int) time.Time { return atOnce })
		}
		b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
		b.ReportMetric(ms(town.latency.drain(0.99)), "p99-ms")
	})
}

// rate is the load, in steps a second, at which latencies count.
const rate = 300

// BenchmarkPaced is a hundred candidates who think between their answers, so
// that rate steps a second arrive. A step's latency counts from the time at which
// it was due, also where the one before was late.
func BenchmarkPaced(b *testing.B) {
	stores(b, func(b *testing.B, dsn string) {
		town, steps := newTown(b, dsn), 0
		const think = crowd * time.Second / rate
		for b.Loop() {
			begin := time.Now()
			steps += count(b, town, func(candidate int) func(int) time.Time {
				return func(step int) time.Time {
					due := begin.Add(think*time.Duration(step) + think*time.Duration(candidate)/crowd)
					time.Sleep(time.Until(due))
					return due
				}
			})
		}
		b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
		b.ReportMetric(ms(town.latency.drain(0.99)), "p99-ms")
	})
}

// BenchmarkHeap is what interviews leave behind in memory, by the difference
// between a hundred and two hundred of them.
func BenchmarkHeap(b *testing.B) {
	town := newTown(b, filepath.Join(b.TempDir(), "sessions.db"))
	fill := func() { count(b, town, func(int) func(int) time.Time { return atOnce }); town.latency.drain(1) }
	fill()
	for b.Loop() {
		first := heap()
		fill()
		b.ReportMetric(first/1e6, "MB-after-100")
		b.ReportMetric((heap()-first)/crowd/1e3, "KB/interview")
	}
}

// BenchmarkFloor is what no such service can do without: as many posts of an
// answer, each of which is committed and echoed.
func BenchmarkFloor(b *testing.B) {
	stores(b, func(b *testing.B, dsn string) {
		kept, err := store.Open(context.Background(), dsn)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { kept.Close() })
		t := &town{client: &http.Client{Transport: pooled(b)}, latency: &latencies{}}
		server := httptest.NewServer(echo(kept))
		b.Cleanup(server.Close)
		var steps atomic.Int64
		const each = 50
		for b.Loop() {
			var group sync.WaitGroup
			for range crowd {
				group.Go(func() {
					for range each {
						begin := time.Now()
						res, err := t.client.Post(server.URL, "application/json", strings.NewReader(`{"message":"because"}`))
						if err != nil {
							b.Error(err)
							return
						}
						io.Copy(io.Discard, res.Body)
						res.Body.Close()
						t.latency.add(time.Since(begin))
						steps.Add(1)
					}
				})
			}
			group.Wait()
		}
		b.ReportMetric(float64(steps.Load())/b.Elapsed().Seconds(), "steps/s")
		b.ReportMetric(ms(t.latency.drain(0.99)), "p99-ms")
	})
}

// echo answers with what it was sent, once that is committed.
func echo(kept session.Store) http.Handler {
	var n atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		err := kept.Create(r.Context(), session.Session{
			ID: fmt.Sprint("s", n.Add(1)), Candidate: "c", Language: session.French, Version: 1, Step: session.Identity,
			Phase: session.Asking, Messages: 1,
		}, session.Change{Messages: []session.Message{{
			Seq: 1, Role: "user", Kind: session.KindOther, Step: session.Identity, Question: session.NoQuestion, Text: string(body),
		}}})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Write(body)
	})
}

// count takes a crowd of interviews and returns how many steps they had.
func count(b *testing.B, t *town, pace func(int) func(int) time.Time) (steps int) {
	all, err := t.fill(pace)
	if err != nil {
		b.Fatal(err)
	}
	for _, one := range all {
		steps += one.steps
	}
	return steps
}

func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
