package mocks_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks"
)

var _ = Describe("the server", Label("H-02"), func() {
	var (
		server    *mocks.Server
		listening *httptest.Server
		client    *http.Client
	)

	BeforeEach(func() {
		before := gleak.Goroutines()
		server = &mocks.Server{}
		listening = httptest.NewServer(server)
		client = &http.Client{Transport: &http.Transport{}}
		DeferCleanup(func() {
			client.CloseIdleConnections()
			listening.Close()
			Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before))
		})
	})

	engine := func(script string, c clock.Clock) *mocks.Engine {
		GinkgoHelper()
		return mocks.NewEngine(compile(script), mocks.EngineOptions{Clock: c})
	}

	It("answers a request for an unknown trial, and names it", func() {
		r := &rig{client: client, base: listening.URL + "/t/nobody/v1"}
		o := r.ask("x")
		code, text := o.problem()
		Expect(o.Status).To(Equal(http.StatusNotFound))
		Expect(code).To(Equal("unknown_trial"))
		Expect(text).To(ContainSubstring("nobody"))
		r.base = listening.URL + "/v1"
		_, text = r.ask("x").problem()
		Expect(text).To(ContainSubstring("/t/<trial>/v1"))
		Expect((&rig{client: client, base: listening.URL}).do(context.Background(), "HEAD", "/", "", nil).Status).To(Equal(200))
	})

	It("serves HTTP/2 without TLS, and cuts its streams off", func() {
		b := mocks.Start(GinkgoT(), mocks.Script{Replies: []mocks.Line{mocks.Say("a b c d"), mocks.Fail(mocks.Fault{Kind: "reset-mid-stream"})}})
		transport := &http.Transport{Protocols: new(http.Protocols)}
		transport.Protocols.SetUnencryptedHTTP2(true)
		DeferCleanup(transport.CloseIdleConnections)
		for _, cut := range []bool{false, true} {
			response, err := (&http.Client{Transport: transport}).Post(b.URL+"/v1/chat/completions", "application/json",
				strings.NewReader(chat(map[string]any{"stream": true}, user("x"))))
			Expect(err).NotTo(HaveOccurred())
			Expect(response.ProtoMajor).To(Equal(2))
			_, err = io.ReadAll(response.Body)
			Expect(err != nil).To(Equal(cut), "%v", err)
			Expect(response.Body.Close()).To(Succeed())
		}
	})

	It("serves the trial without a name under /v1", func() {
		Expect(server.Attach("", engine("replies: [{text: a}]", clock.NewVirtual()))).To(Succeed())
		Expect((&rig{client: client, base: listening.URL + "/v1"}).ask("x").text()).To(Equal("a"))
	})

	It("refuses a name that is in use and frees it when detached", func() {
		Expect(server.Attach("a", engine("replies: [{text: a}]", clock.NewVirtual()))).To(Succeed())
		Expect(server.Attach("a", engine("replies: [{text: b}]", clock.NewVirtual()))).To(MatchError(ContainSubstring("in use")))
		Expect(server.Detach(context.Background(), "a")).To(Succeed())
		Expect(server.Detach(context.Background(), "a")).To(Succeed())
		Expect(server.Attach("a", engine("replies: [{text: b}]", clock.NewVirtual()))).To(Succeed())
	})

	It("releases a hanging client when the trial is detached", func() {
		e := engine("replies: [{fault: timeout}]", clock.Real())
		Expect(server.Attach("a", e)).To(Succeed())
		ended := make(chan string)
		go func() { ended <- (&rig{client: client, base: listening.URL + "/t/a/v1"}).ask("x").Err }()
		Eventually(e.Report).Should(HaveField("Exchanges", ConsistOf(HaveField("Fired", true))))
		Expect(server.Detach(context.Background(), "a")).To(Succeed())
		Expect(<-ended).To(Equal("closed"))
		x := e.Report().Exchanges[0]
		Expect(x.HungUp).To(BeTrue())
		Expect(e.Report().Unused).To(BeEmpty())
	})

	It("notices that a client left, frees its line and records what was sent", func() {
		e := engine("replies: [{text: a, latency: 24h}, {text: b}]", clock.Real())
		Expect(server.Attach("a", e)).To(Succeed())
		ctx, cancel := context.WithCancel(context.Background())
		r := &rig{client: client, base: listening.URL + "/t/a/v1"}
		ended := make(chan string)
		go func() { ended <- r.post(ctx, chat(map[string]any{"stream": true}, user("x"))).Err }()
		Eventually(e.Report).Should(HaveField("Calls", 1))
		cancel()
		Expect(<-ended).To(Equal("cancelled"))
		Eventually(e.Report).Should(HaveField("Exchanges", ConsistOf(HaveField("HungUp", true))))
		Expect(e.Report().Unused).To(HaveLen(2))
		Expect(server.Detach(context.Background(), "a")).To(Succeed())
	})

	It("returns an error when an exchange cannot be ended", func() {
		release := make(chan struct{})
		e := engine("replies: [{text: a, latency: 1s}]", stuck{clock.Real(), release})
		Expect(server.Attach("a", e)).To(Succeed())
		ended := make(chan string)
		go func() { ended <- (&rig{client: client, base: listening.URL + "/t/a/v1"}).ask("x").Err }()
		Eventually(e.Report).Should(HaveField("Calls", 1))
		over, cancel := context.WithCancel(context.Background())
		cancel()
		err := server.Detach(over, "a")
		close(release)
		Expect(<-ended).To(BeEmpty())
		Expect(err).To(MatchError(ContainSubstring("still under way")))
	})

	It("reads a body that is cut off as a client that failed", func() {
		Expect(server.Attach("a", engine("replies: [{text: a}]", clock.NewVirtual()))).To(Succeed())
		request := httptest.NewRequest("POST", "/t/a/v1/chat/completions", strings.NewReader("{"))
		request.Body = http.MaxBytesReader(nil, request.Body, 0)
		recorder := httptest.NewRecorder()
		server.ServeHTTP(recorder, request)
		Expect(recorder.Code).To(Equal(http.StatusBadRequest))
	})
})

// stuck is a clock on which a sleep ends when it is released, and not before.
type stuck struct {
	clock.Clock
	release chan struct{}
}

func (s stuck) Sleep(_ context.Context, d time.Duration) error {
	if d > 0 {
		<-s.release
	}
	return nil
}

var _ = Describe("the transport", Label("H-02"), func() {
	It("does not read a body whose Content-Length is too large", func() {
		r := start("replies: [{text: a}]")
		request, err := http.NewRequest("POST", r.base+"/chat/completions", unread{})
		Expect(err).NotTo(HaveOccurred())
		request.ContentLength = 33 << 20
		response, err := r.client.Do(request)
		Expect(err).NotTo(HaveOccurred())
		Expect(response.Body.Close()).To(Succeed())
		Expect(response.StatusCode).To(Equal(http.StatusRequestEntityTooLarge))
	})

	It("ends a read when the context ends, with its cause", func() {
		r := start("replies: [{text: one two three}]")
		cause := errors.New("the user has had enough")
		ctx, cancel := context.WithCancelCause(context.Background())
		response, err := post(ctx, r, chat(nil, user("x")))
		Expect(err).NotTo(HaveOccurred())
		buffer := make([]byte, 10)
		Expect(response.Body.Read(buffer)).To(Equal(10))
		cancel(cause)
		_, err = response.Body.Read(buffer)
		Expect(err).To(MatchError(cause))
		Expect(response.Body.Close()).To(Succeed())
		Expect(r.engine.Report().Exchanges[0].HungUp).To(BeTrue())
		_, err = post(ctx, r, chat(nil, user("x")))
		Expect(err).To(MatchError(cause))
		Expect(r.engine.Report().Calls).To(Equal(1), "a call that is cancelled before it begins is none")
	})

	It("returns an error when it is read after Close", func() {
		r := start("replies: [{text: a}]")
		response, err := post(context.Background(), r, chat(nil, user("x")))
		Expect(err).NotTo(HaveOccurred())
		Expect(response.Body.Close()).To(Succeed())
		Expect(response.Body.Close()).To(Succeed())
		_, err = response.Body.Read(make([]byte, 1))
		Expect(err).To(MatchError(http.ErrBodyReadAfterClose))
	})
})

// unread is a body that nobody may read.
type unread struct{}

func (unread) Read([]byte) (int, error) {
	defer GinkgoRecover()
	Fail("the body was read")
	return 0, io.EOF
}
