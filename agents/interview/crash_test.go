package interview_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
)

// mortal simulates a process that crashes at one instant: before or after a write of its
// store, before or after a call. After that its operations have no effect, and its
// results are discarded.
type mortal struct {
	left int // instants until the crash; negative means never
	dead bool
	seen int
}

var errDead = errors.New("the process is dead")

// dies counts one instant, and reports whether the process has crashed.
func (m *mortal) dies() bool {
	m.seen++
	if m.left == 0 {
		m.dead = true
	}
	m.left--
	return m.dead
}

// reborn starts a new process that crashes after left instants.
func (m *mortal) reborn(left int) { m.dead, m.left = false, left }

type mortalStore struct {
	session.Store
	life *mortal
}

func (s mortalStore) Create(ctx context.Context, n session.Session, c session.Change) error {
	if s.life.dies() {
		return errDead
	}
	if err := s.Store.Create(ctx, n, c); err != nil || !s.life.dies() {
		return err
	}
	return errDead
}

func (s mortalStore) Commit(ctx context.Context, n session.Session, c session.Change) (int64, error) {
	if s.life.dead || s.life.dies() {
		return 0, errDead
	}
	version, err := s.Store.Commit(ctx, n, c)
	if err != nil || !s.life.dies() {
		return version, err
	}
	return 0, errDead
}

func (s mortalStore) Load(ctx context.Context, id string) (session.Session, error) {
	if s.life.dead {
		return session.Session{}, errDead
	}
	return s.Store.Load(ctx, id)
}

type mortalBackend struct {
	llm.Backend
	life *mortal
	made int
}

func (b *mortalBackend) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if b.life.dies() {
		return llm.Reply{}, errDead
	}
	b.made++
	reply, err := b.Backend.Complete(ctx, req)
	if b.life.dies() {
		return llm.Reply{}, errDead
	}
	return reply, err
}

// remains is the stored data of an interview.
type remains struct {
	answers  []string
	messages []string
	queues   []session.Queue
	accepted int
	lost     []session.Call
	calls    []session.Call
}

func (r *rig) remains(id string) remains {
	GinkgoHelper()
	ctx := context.Background()
	t := remains{answers: r.answers(id), calls: r.ledger(id)}
	messages, err := r.store.Messages(ctx, id)
	Expect(err).NotTo(HaveOccurred())
	for i, m := range messages {
		Expect(m.Seq).To(Equal(i+1), "no message is missing")
		t.messages = append(t.messages, fmt.Sprintf("%d %s %s %s %d: %s", m.Seq, m.Role, m.Kind, m.Step, m.Question, m.Text))
	}
	t.queues, err = r.store.Queues(ctx, id)
	Expect(err).NotTo(HaveOccurred())
	for i := range t.queues {
		t.queues[i].Generated, t.queues[i].Completed = time.Time{}, time.Time{}
	}
	for _, c := range t.calls {
		switch c.Outcome {
		case session.Accepted:
			t.accepted++
		case session.Lost:
			t.lost = append(t.lost, c)
		case session.Begun:
			Fail(fmt.Sprintf("call %d has no outcome", c.N))
		default:
		}
	}
	return t
}

// persist takes an interview with a client that repeats its last submission after a
// crash, and then continues from the view that it receives.
func (p person) persist(r *rig, life *mortal, lives ...int) (id string) {
	GinkgoHelper()
	ctx := context.Background()
	life.reborn(lives[0])
	s, sub := r.serve(), p.begin()
	for range 500 {
		v, err := s.Handle(ctx, sub)
		if life.dead {
			lives = lives[1:]
			life.reborn(append(lives, -1)[0])
			if len(lives) == 0 {
				lives = []int{-1}
			}
			s = r.serve()
			continue
		}
		if failed, ok := errors.AsType[*interview.Error](err); ok && failed.View != nil {
			v = *failed.View
		} else {
			Expect(err).NotTo(HaveOccurred())
		}
		if v.Finished {
			return v.SessionID
		}
		sub = p.next(v)
	}
	Fail("the interview does not end")
	return ""
}

var _ = Describe("A crash", func() {
	It("at any instant of the golden path loses and doubles nothing, and repeats at most the call under way", Label("I-03"), func() {
		p := meet("lea")
		whole, life := rigOn(&memory{}, p), &mortal{}
		whole.store = mortalStore{whole.store, life}
		whole.backend = &mortalBackend{Backend: whole.backend, life: life}
		want := whole.remains(p.persist(whole, life, -1))
		Expect(want.calls).To(HaveLen(24))

		instants := life.seen
		Expect(instants).To(Equal(2*(len(whole.emitted("commit"))+24)), "two for each write and each call")
		for k := range instants {
			r, life := rigOn(&memory{}, p), &mortal{}
			if k%8 == 0 {
				r = newRig(p)
			}
			r.store = mortalStore{r.store, life}
			backend := &mortalBackend{Backend: r.backend, life: life}
			r.backend = backend
			got := r.remains(p.persist(r, life, k))
			at := fmt.Sprintf("death at instant %d", k)
			Expect(got.answers).To(Equal(want.answers), at)
			Expect(got.messages).To(Equal(want.messages), at)
			Expect(got.queues).To(Equal(want.queues), at)
			Expect(got.accepted).To(Equal(24), at)
			Expect(len(got.lost)).To(BeNumerically("<=", 1), at)
			Expect(got.calls).To(HaveLen(24+len(got.lost)), at)
			for _, lost := range got.lost {
				Expect(got.calls[lost.N].Repeats).To(Equal(lost.N), at)
				Expect(got.calls[lost.N].Purpose).To(Equal(lost.Purpose), at)
			}
			Expect(backend.made).To(BeNumerically("<=", 24+len(got.lost)), at)
		}
	})

	It("again and again, amid faults, loses and doubles nothing", Label("I-03"), func() {
		p := meet("lea")
		want := faultFree(p)
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			lives := rapid.SliceOfN(rapid.IntRange(0, 60), 1, 8).Draw(t, "instants until each death")
			r, life := rigOn(&memory{}, p), &mortal{}
			r.store = mortalStore{r.store, life}
			r.backend = &mortalBackend{Backend: stormy(r, p, rapid.Uint64().Draw(t, "storm")), life: life}
			got := r.remains(p.persist(r, life, lives...))
			if fmt.Sprint(got.answers) != fmt.Sprint(want.answers) {
				t.Fatalf("answers: %q, want %q", got.answers, want.answers)
			}
			if fmt.Sprint(got.messages) != fmt.Sprint(want.messages) {
				t.Fatalf("said: %q, want %q", got.messages, want.messages)
			}
			if got.accepted != 24 || len(got.lost) > len(lives) {
				t.Fatalf("%d calls accepted and %d lost in %d lives", got.accepted, len(got.lost), len(lives))
			}
		})
	})
})

// calm returns what remains of an interview without a fault.
func faultFree(p person) remains {
	GinkgoHelper()
	r := newRig(p)
	return r.remains(p.persist(r, &mortal{}, -1))
}

// stormy returns a backend whose replies are sometimes broken, by a hash of how many
// calls there were. It never breaks a text of one message twice: a text of the
// prompts would take its place.
func stormy(r *rig, p person, seed uint64) llm.Backend {
	return llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		seed = seed*6364136223846793005 + 1442695040888963407
		fault := seed >> 60
		if corrected := strings.Contains(req.Messages[len(req.Messages)-1].Content, "# Correction"); corrected && (fault == 2 || fault == 3) {
			fault = 15
		}
		switch fault {
		case 0:
			return llm.Reply{}, &llm.Error{Kind: llm.Unavailable, Message: "storm"}
		case 1:
			return llm.Reply{}, &llm.Error{Kind: llm.RateLimited, RetryAfter: 3 * time.Second}
		case 2:
			return llm.Reply{Text: "half a", Finish: llm.FinishLength}, nil
		case 3:
			return llm.Reply{Text: " ", Finish: llm.FinishStop}, r.clock.Sleep(ctx, time.Second)
		case 4:
			return llm.Reply{}, &llm.Error{Kind: llm.Unauthorized}
		}
		return p.reply(req), r.clock.Sleep(ctx, time.Second)
	})
}
