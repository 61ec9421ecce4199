package interview_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/kind"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

func TestInterview(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/interview")
}

var _ = BeforeEach(func() {
	before := gleak.Goroutines()
	DeferCleanup(func() { Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before)) })
})

// person is a persona that takes an interview, with the replies of the model.
type person struct {
	kind.Persona
	texts map[string]string // by replyKey
}

func meet(name string) person {
	GinkgoHelper()
	p, err := newPerson(name)
	Expect(err).NotTo(HaveOccurred())
	return p
}

func newPerson(name string) (p person, err error) {
	if p.Persona, err = kind.LoadPersona(name); err != nil {
		return p, err
	}
	script, err := kind.Replies(name)
	p.texts = map[string]string{}
	for _, rule := range script.Rules {
		p.texts[replyKey(rule.When.Purpose, rule.When.Metadata)] = cmp.Or(rule.Text.String(), rule.Template)
	}
	return p, err
}

func replyKey(purpose string, tags map[string]string) string {
	return strings.TrimSpace(purpose + " " + tags["step"] + " " + tags["index"])
}

// reply returns the reply of a good model.
func (p person) reply(req llm.Request) llm.Reply {
	text := p.texts[replyKey(req.Purpose, req.Tags)]
	if text == "" {
		panic("no reply for " + req.Purpose + " " + req.Tags["step"])
	}
	return llm.Reply{Text: text, Finish: llm.FinishStop}
}

// begin returns the submission that starts the interview.
func (p person) begin() interview.Submission {
	return interview.Submission{Event: interview.EventStart, Candidate: p.Candidate, Language: p.Language}
}

// next returns the response of the candidate to a view.
func (p person) next(v interview.View) interview.Submission {
	sub := interview.Submission{Session: v.SessionID, ReplyTo: v.MessageID, ID: "to-" + v.MessageID}
	switch {
	case v.AutoContinue:
		return interview.Submission{Session: v.SessionID, Event: interview.EventRetry}
	case v.State == "waiting_go":
		sub.Event = interview.EventGo
	case v.Kind == session.KindMirror:
		if sub.Message = p.Comment(v.Step); sub.Message == "" {
			sub.Event = interview.EventGo
		}
	default:
		sub.Message = p.Answer(v.Step, max(v.QuestionIndex, 0))
	}
	return sub
}

// rig is a service with its dependencies, which may be replaced before serve.
type rig struct {
	store   session.Store
	clock   *clock.Virtual
	backend llm.Backend
	options interview.Options
	log     *slog.Logger
	jobs    []session.Job
	price   llm.Pricer // nil is a price in EUR

	mu     sync.Mutex
	ids    int
	events []event.Event
	calls  []llm.Request
}

// newRig returns a rig with a real store.
func newRig(p person) *rig {
	GinkgoHelper()
	s, err := store.Open(context.Background(), "memory:")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(s.Close)
	return rigOn(s, p)
}

func rigOn(s session.Store, p person) *rig {
	r := &rig{store: s, clock: clock.NewVirtual(), options: interview.Options{Instance: "one", Model: "gpt-test"}}
	r.backend = llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		return p.reply(req), r.clock.Sleep(ctx, time.Second)
	})
	return r
}

// serve returns a new service on the same store, as after a restart.
func (r *rig) serve() *interview.Service {
	GinkgoHelper()
	s, err := interview.New(r.options, interview.Deps{
		Store: r.store, Clock: r.clock, Sink: r, Log: r.log, Jobs: r.jobs,
		Backend: llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			r.mu.Lock()
			r.calls = append(r.calls, req)
			r.mu.Unlock()
			return r.backend.Complete(ctx, req)
		}),
		Count: func(_, text string) int { return len(text) / 4 },
		Price: func(model string, u llm.Usage) (quantity.Money, bool) {
			if r.price != nil {
				return r.price(model, u)
			}
			return quantity.Money{Amount: float64(u.Total()) / 1e6, Currency: quantity.EUR}, true
		},
		NewID: r.newID,
	})
	Expect(err).NotTo(HaveOccurred())
	return s
}

func (r *rig) newID() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids++
	return "s" + strconv.Itoa(r.ids)
}

// Emit implements event.Sink.
func (r *rig) Emit(e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// emitted returns the events with a name.
func (r *rig) emitted(name string) []event.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []event.Event
	for _, e := range r.events {
		if e.Name == name {
			found = append(found, e)
		}
	}
	return found
}

// ledger returns the stored calls.
func (r *rig) ledger(id string) []session.Call {
	GinkgoHelper()
	calls, err := r.store.Calls(context.Background(), id)
	Expect(err).NotTo(HaveOccurred())
	return calls
}

// answers returns the stored answers as "step/index: text".
func (r *rig) answers(id string) []string {
	GinkgoHelper()
	all, err := r.store.Answers(context.Background(), id)
	Expect(err).NotTo(HaveOccurred())
	lines := make([]string, len(all))
	for i, a := range all {
		lines[i] = fmt.Sprintf("%s/%d: %s", a.Step, a.Index, a.Text)
	}
	return lines
}

// handle submits without an error.
func handle(ctx context.Context, s *interview.Service, sub interview.Submission) interview.View {
	GinkgoHelper()
	v, err := s.Handle(ctx, sub)
	Expect(err).NotTo(HaveOccurred())
	return v
}

// walk continues the interview from a view until stop returns true, or to its end.
func (p person) walk(ctx context.Context, s *interview.Service, v interview.View, stop func(interview.View) bool) interview.View {
	GinkgoHelper()
	for range 200 {
		if v.Finished || stop != nil && stop(v) {
			return v
		}
		v = handle(ctx, s, p.next(v))
	}
	Fail("the interview does not end")
	return v
}

// refusal returns the error of a rejected submission.
func refusal(_ interview.View, err error) *interview.Error {
	GinkgoHelper()
	failed, ok := errors.AsType[*interview.Error](err)
	Expect(ok).To(BeTrue(), "%v", err)
	return failed
}
