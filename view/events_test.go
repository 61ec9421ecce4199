package view_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/view"
)

// fast is a clock on which each of the first 4 waits takes 4 seconds.
type fast struct {
	clock.Clock
	ahead atomic.Int64
}

func (f *fast) Now() time.Time { return f.Clock.Now().Add(time.Duration(f.ahead.Load())) }

func (f *fast) Sleep(ctx context.Context, _ time.Duration) error {
	if f.ahead.Load() < int64(16*time.Second) {
		f.ahead.Add(int64(4 * time.Second))
	}
	return f.Clock.Sleep(ctx, time.Millisecond)
}

// stuck is a client that reads nothing: each write waits until the deadline, which the spec decides.
type stuck struct {
	*httptest.ResponseRecorder
	deadline chan time.Time
	expired  chan struct{}
}

func (s *stuck) SetWriteDeadline(at time.Time) error {
	s.deadline <- at
	return nil
}

func (s *stuck) Write([]byte) (int, error) {
	<-s.expired
	return 0, os.ErrDeadlineExceeded
}

var _ = Describe("the events of a run in progress", Label("H-04"), func() {
	var f *fixture
	var dir, path string
	var run *liveRun
	BeforeEach(func(ctx SpecContext) {
		f = newFixture(ctx)
		dir = filepath.Join(f.dir, "runs", "20260401-120000")
		path = view.LivePath(dir) + "/events"
		run = begin(dir, shown{"a", []string{"x", "y"}, "done"}, shown{"b", []string{"x", "y"}, "done"}, shown{"c", []string{"z"}, "done"})
		run.write(3)
	})
	idOf := func(text string) string {
		_, after, found := strings.Cut(text, "event: result\nid: ")
		Expect(found).To(BeTrue(), text)
		id, _, _ := strings.Cut(after, "\n")
		return id
	}

	It("go on after the last one that a client received", func(ctx SpecContext) {
		events := f.stream(ctx, path)
		first := idOf(events.until(ctx, `"name":"a"`))
		second := idOf(events.until(ctx, `"name":"b"`))
		Expect(second).NotTo(Equal(first))
		events.close()
		again := f.streamAfter(ctx, path, first).until(ctx, `"name":"b"`)
		Expect(again).To(And(ContainSubstring(`"done":3`), Not(ContainSubstring(`"name":"a"`))), "the counters, and what it did not receive")
		latest := f.streamAfter(ctx, path, second)
		run.write(1)
		Expect(latest.until(ctx, `"name":"b"`)).NotTo(ContainSubstring(`"name":"a"`))
		run.write(1)
		Expect(idOf(latest.until(ctx, `"name":"c"`))).NotTo(Equal(second))
	})

	It("lead a client to the page again if its last event is one of another run or server", func(ctx SpecContext) {
		events := f.stream(ctx, path)
		id := idOf(events.until(ctx, `"name":"a"`))
		Expect(f.streamAfter(ctx, path, "1-1").until(ctx, `"link"`)).To(HaveSuffix(
			"event: done\ndata: {\"link\":\"" + strings.TrimSuffix(path, "/events") + "\"}\n"))
		Expect(f.streamAfter(ctx, path, "hello").until(ctx, `"name":"a"`)).To(ContainSubstring(`"done":3`))
		Expect(run.folder.Close()).To(Succeed())
		events.until(ctx, `"state":"cut off"`)
		again := begin(dir, shown{"other", []string{"x", "y"}, "done"})
		again.write(1)
		Expect(f.streamAfter(ctx, path, id).until(ctx, `"link"`)).NotTo(ContainSubstring("other"))
	})

	It("have a comment every 15 seconds without an event", func(ctx SpecContext) {
		f.serve(view.Options{Clock: &fast{Clock: clock.Real()}})
		events := f.stream(ctx, path)
		events.until(ctx, `"name":"b"`)
		Expect(events.until(ctx, ":")).To(Or(Equal(":\n"), Equal("\n:\n")))
		Consistently(events.lines).WithTimeout(50 * time.Millisecond).ShouldNot(Receive(Equal(":")))
	})

	It("wait for a client that does not read, at most half a minute, and hold up nobody", func(ctx SpecContext) {
		client := &stuck{httptest.NewRecorder(), make(chan time.Time, 10), make(chan struct{})}
		ended := make(chan struct{})
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
		r.Host = "127.0.0.1"
		r.Header.Set("Authorization", "Bearer "+token)
		before := time.Now()
		go func() {
			defer close(ended)
			f.server.Handler().ServeHTTP(client, r)
		}()
		var at time.Time
		Eventually(client.deadline).WithContext(ctx).Should(Receive(&at))
		Expect(at).To(BeTemporally(">=", before.Add(30*time.Second)))
		other := f.stream(ctx, path)
		other.until(ctx, `"done":3`)
		run.write(2)
		other.until(ctx, `"done":5`)
		Expect(f.text(strings.TrimSuffix(path, "/events"))).To(ContainSubstring("5 of 5 trials"))
		Expect(ended).NotTo(BeClosed())
		close(client.expired)
		Eventually(ended).WithContext(ctx).Should(BeClosed())
		Expect(client.deadline).To(BeEmpty(), "it is not written to again")
	})
})
