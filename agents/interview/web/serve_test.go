package web_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/web"
	"github.com/rehearse-dev/rehearse/llm"
)

// served is a house behind a socket.
type served struct {
	*house
	base  string
	stop  context.CancelFunc
	ended chan error
}

func (h *house) listen() *served {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	ctx, stop := context.WithCancel(context.Background())
	s := &served{house: h, base: "http://" + listener.Addr().String(), stop: stop, ended: make(chan error, 1)}
	go func() { s.ended <- h.Serve(ctx, listener) }()
	DeferCleanup(func() {
		stop()
		http.DefaultClient.CloseIdleConnections()
	})
	return s
}

// send answers the question of tone over the socket. It returns the HTTP status, or 0
// without a response.
func (s *served) send(v view) int {
	body := `{"sessionId":"` + v.SessionID + `","submissionId":"t","message":"tu"}`
	r, err := http.Post(s.base+"/axiom", "application/json", strings.NewReader(body))
	if err != nil {
		return 0
	}
	r.Body.Close()
	return r.StatusCode
}

var _ = Describe("The end of a server", func() {
	// blocked begins a step whose call waits until letGo is called.
	blocked := func(change ...func(*web.Options, *web.Deps)) (s *served, v view, answered chan int, letGo func()) {
		h := newHouse("lea", change...)
		s = h.listen()
		v = h.until(h.begin().View, func(v view) bool { return v.Step == session.Tone })
		calling, gate := make(chan struct{}), make(chan struct{})
		h.model.set(func(context.Context, llm.Request) error {
			close(calling)
			<-gate
			return nil
		})
		answered = make(chan int, 2)
		go func() { answered <- s.send(v) }()
		Eventually(calling).Should(BeClosed())
		return s, v, answered, func() { close(gate) }
	}

	It("waits for the step under way, and takes no other", func() {
		s, v, answered, letGo := blocked()
		go func() { answered <- s.send(v) }() // the same once more, which waits for the first
		Eventually(func() string { return s.get("/metrics", token).Body.String() }).
			Should(ContainSubstring("\nhttp_server_active_requests 3\n"), "two, and the one that asks")
		s.stop()
		Eventually(func() int { return s.get("/readyz").Code }).Should(Equal(http.StatusServiceUnavailable))
		Eventually(func() error {
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
			if err == nil {
				conn.Close()
			}
			return err
		}).Should(HaveOccurred())
		Consistently(s.ended, "50ms").ShouldNot(Receive())
		letGo()
		Eventually(answered).Should(Receive(Equal(http.StatusOK)))
		Eventually(answered).Should(Receive(Equal(http.StatusOK)))
		Eventually(s.ended).Should(Receive(BeNil()))
		stored, err := s.store.Load(context.Background(), v.SessionID)
		Expect(err).NotTo(HaveOccurred())
		Expect(stored.Phase).To(Equal(session.Waiting))
	})

	It("waits for the drain timeout and reports the unfinished step", func(ctx context.Context) {
		s, _, answered, letGo := blocked(func(o *web.Options, _ *web.Deps) { o.DrainTimeout = time.Minute })
		s.stop()
		Eventually(func() int { return s.get("/readyz").Code }).Should(Equal(http.StatusServiceUnavailable))
		Expect(s.clock.Sleep(ctx, time.Minute)).To(Succeed())
		var err error
		Eventually(s.ended).Should(Receive(&err))
		Expect(err).To(MatchError(And(ContainSubstring("after 1m0s"), ContainSubstring("resumed when the server starts again"))))
		Eventually(answered).Should(Receive(BeZero()))
		letGo()
	})

	It("finishes the step of a client that left", func(ctx context.Context) {
		h := newHouse("lea")
		s := h.listen()
		v := h.until(h.begin().View, func(v view) bool { return v.Step == session.Tone })
		ctx, leave := context.WithCancel(ctx)
		gone := make(chan struct{})
		h.model.set(func(context.Context, llm.Request) error {
			leave()
			<-gone
			return nil
		})
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/axiom",
			strings.NewReader(`{"sessionId":"`+v.SessionID+`","submissionId":"t","message":"tu"}`))
		Expect(err).NotTo(HaveOccurred())
		r.Header.Set("Content-Type", "application/json")
		_, err = http.DefaultClient.Do(r)
		Expect(err).To(MatchError(context.Canceled))
		close(gone)
		s.stop()
		Eventually(s.ended).Should(Receive(BeNil()))
		stored, err := h.store.Load(context.Background(), v.SessionID)
		Expect(err).NotTo(HaveOccurred())
		Expect(stored.Phase).To(Equal(session.Waiting))
	})
})
