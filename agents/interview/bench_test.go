package interview_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/token"
)

// benchPerson is meet without Ginkgo.
func benchPerson(b *testing.B, name string) person {
	b.Helper()
	p, err := newPerson(name)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// benchStore is SQLite in memory.
func benchStore(b *testing.B) session.Store {
	b.Helper()
	s, err := store.Open(b.Context(), "memory:")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// benchService answers at once and counts real tokens.
func benchService(b *testing.B, p person, s session.Store) *interview.Service {
	b.Helper()
	counter := token.NewCounter(token.Options{})
	service, err := interview.New(interview.Options{Model: "gpt-4.1"}, interview.Deps{
		Store: s, Clock: clock.NewVirtual(), Count: counter.Count,
		Backend: llm.BackendFunc(func(_ context.Context, req llm.Request) (llm.Reply, error) { return p.reply(req), nil }),
	})
	if err != nil {
		b.Fatal(err)
	}
	return service
}

func benchHandle(b *testing.B, s *interview.Service, sub interview.Submission) interview.View {
	b.Helper()
	v, err := s.Handle(b.Context(), sub)
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// BenchmarkGolden takes a whole interview: 24 calls.
func BenchmarkGolden(b *testing.B) {
	for _, name := range []string{"lea", "karim"} {
		b.Run(name, func(b *testing.B) {
			p := benchPerson(b, name)
			s := benchService(b, p, benchStore(b))
			b.ReportAllocs()
			steps := 0
			for b.Loop() {
				steps = 0
				for v := benchHandle(b, s, p.begin()); !v.Finished; steps++ {
					v = benchHandle(b, s, p.next(v))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*steps), "µs/step")
		})
	}
}

// taped is a store that keeps the commits.
type taped struct {
	session.Store
	commits []commit
}

type commit struct {
	s session.Session
	c session.Change
}

func (t *taped) Create(ctx context.Context, s session.Session, c session.Change) error {
	t.commits = append(t.commits, commit{s, c})
	return t.Store.Create(ctx, s, c)
}

func (t *taped) Commit(ctx context.Context, s session.Session, c session.Change) (int64, error) {
	t.commits = append(t.commits, commit{s, c})
	return t.Store.Commit(ctx, s, c)
}

// BenchmarkFloorGolden makes the commits of the same interview and nothing else.
func BenchmarkFloorGolden(b *testing.B) {
	p := benchPerson(b, "lea")
	tape := &taped{Store: benchStore(b)}
	s := benchService(b, p, tape)
	for v := benchHandle(b, s, p.begin()); !v.Finished; {
		v = benchHandle(b, s, p.next(v))
	}
	bare := benchStore(b)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		id := "s" + strconv.Itoa(n)
		for i, c := range tape.commits {
			c.s.ID = id
			var err error
			if i == 0 {
				err = bare.Create(b.Context(), c.s, c.c)
			} else {
				_, err = bare.Commit(b.Context(), c.s, c.c)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(tape.commits)), "commits")
}

// BenchmarkQueued takes whole interviews and times only the steps that serve a
// queued question: those of block 1, with 6 to 8 messages behind them, and those of
// block 9, with more than 100. The two cost the same.
func BenchmarkQueued(b *testing.B) {
	p := benchPerson(b, "lea")
	s := benchService(b, p, benchStore(b))
	spent, steps := map[session.Step]time.Duration{}, map[session.Step]int{}
	for b.Loop() {
		for v := benchHandle(b, s, p.begin()); !v.Finished; {
			sub, start := p.next(v), clock.Real().Now()
			v = benchHandle(b, s, sub)
			if v.QuestionIndex > 0 {
				spent[v.Step] += clock.Real().Now().Sub(start)
				steps[v.Step]++
			}
		}
	}
	for name, step := range map[string]session.Step{"early": session.Block1, "late": session.Block9} {
		b.ReportMetric(float64(spent[step].Nanoseconds())/1e3/float64(steps[step]), "µs/"+name+"-step")
	}
}
