package http_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/kind/command"
	httpkind "github.com/rehearse-dev/rehearse/harness/kind/http"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// log is safe for concurrent use.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// site returns the site of a trial.
func site() (app.Site, *log) {
	GinkgoHelper()
	output := &log{}
	return app.Site{
		Folder: GinkgoT().TempDir(), Home: GinkgoT().TempDir(), Clock: clock.Real(), Log: output,
		Env: app.Variables("http://127.0.0.1:1/t/1"),
	}, output
}

// agent returns this test program as an application of a kind.
func agent(w httpkind.Web, kind string) app.Agent {
	GinkgoHelper()
	self, err := os.Executable()
	Expect(err).NotTo(HaveOccurred())
	a, err := httpkind.New(httpkind.Options{Web: w, Launch: command.Launch{
		Run: []string{self}, Env: map[string]string{playing: kind, "GORACE": "atexit_sleep_ms=0"},
	}})
	Expect(err).NotTo(HaveOccurred())
	return a
}

var _ = Describe("An application that is started for a trial", func() {
	BeforeEach(func() {
		before, ports := gleak.Goroutines(), httpkind.ReservedPorts()
		DeferCleanup(func() {
			Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before))
			Expect(httpkind.ReservedPorts()).To(Equal(ports), "ports are given back")
		})
	})

	It("receives its port and the backend, and has ended at the end", func() {
		here, output := site()
		s, err := agent(web(chat, "$.env", ""), "assistant").Start(ctx, here)
		Expect(err).NotTo(HaveOccurred())
		answer, err := s.Say(ctx, "hello")
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Text).To(And(
			ContainSubstring(`"OPENAI_BASE_URL=http://127.0.0.1:1/t/1/v1"`), ContainSubstring(`"PORT=`), ContainSubstring(`"HOME=`+here.Home)))
		Eventually(output.String).Should(ContainSubstring("heard hello"))
		Expect(s.End(ctx)).To(Succeed())
		Expect(s.End(ctx)).To(Succeed(), "once more does no harm")
		_, err = s.Say(ctx, "anybody there?")
		Expect(err).To(beError(app.Crashed, ""))
	})

	It("is killed and started again, with its own state and that of the client", func() {
		here, output := site()
		s, err := agent(web(chat, "$.reply", "$.id"), "assistant").Start(ctx, here)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(s.End(ctx)).To(Succeed()) })
		Expect(s.Say(ctx, "a")).To(HaveField("Text", `life 1, turn 1, session "": a`))
		Expect(s.(app.Restarter).Restart(ctx)).To(Succeed())
		Expect(s.Say(ctx, "b")).To(HaveField("Text", `life 2, turn 1, session "9007199254740993": b`))
		Eventually(output.String).Should(ContainSubstring("heard b"))
		_, err = s.Say(ctx, "die")
		Expect(err).To(beError(app.Crashed, "went away in the middle of the turn"))
		Expect(err).To(MatchError(ContainSubstring("exit status 7")))
		Expect(err).To(HaveField("Silent", true), "it wrote to its standard error in earlier turns only")
		Expect(s.(app.Restarter).Restart(ctx)).To(Succeed(), "a dead one, too")
		Expect(s.Say(ctx, "c")).To(HaveField("Text", `life 3, turn 1, session "9007199254740993": c`))
		_, err = s.Say(ctx, "die loudly")
		Expect(err).To(beError(app.Crashed, "exit status 7"))
		Expect(err).To(HaveField("Silent", false), "it wrote to its standard error")
	})

	It("is reached at the other loopback address, too", func() {
		l, err := net.Listen("tcp", "[::1]:0")
		if err != nil {
			Skip("this machine has no IPv6")
		}
		Expect(l.Close()).To(Succeed())
		here, _ := site()
		s, err := agent(web(chat, "$.reply", ""), "v6").Start(ctx, here)
		Expect(err).NotTo(HaveOccurred())
		Expect(s.Say(ctx, "a")).To(HaveField("Text", ContainSubstring("turn 1")))
		Expect(s.End(ctx)).To(Succeed())
	})

	It("gets another port if another program took the first", func() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(l.Close)
		httpkind.OfferPorts(l.Addr().(*net.TCPAddr).Port)
		here, _ := site()
		s, err := agent(web(chat, "$.reply", ""), "assistant").Start(ctx, here)
		Expect(err).NotTo(HaveOccurred())
		Expect(s.Say(ctx, "a")).To(HaveField("Text", ContainSubstring("life 2")))
		Expect(s.End(ctx)).To(Succeed())
	})

	DescribeTable("is unusable",
		func(kind, message string) {
			d := web(chat, "$.reply", "")
			if kind == "silent" || kind == "unhealthy" {
				d.HealthTimeout = quantity.Duration(200 * time.Millisecond)
			}
			here, _ := site()
			_, err := agent(d, kind).Start(ctx, here)
			Expect(err).To(beError(app.Unusable, message))
		},
		Entry("if it exits at once", "exits", "ended before it accepted a request"),
		Entry("if it exits with a message", "exits", "exit status 3; the end of its standard error:\nno configuration"),
		Entry("if it ends at once without an error", "ends", "exit status 0, and a server does not end by itself"),
		Entry("if it does not listen", "silent", "could not be spoken to within 200ms (health_timeout): connection refused"),
		Entry("if it never becomes healthy", "unhealthy", "/healthz answers with the HTTP status 404"),
	)

	It("is unusable if its program is missing", func() {
		a, err := httpkind.New(httpkind.Options{Web: web(chat, "", ""), Launch: command.Launch{Run: []string{"no-such-program"}}})
		Expect(err).NotTo(HaveOccurred())
		here, _ := site()
		_, err = a.Start(ctx, here)
		Expect(err).To(beError(app.Unusable, `the program "no-such-program" cannot be started`))
		_, err = httpkind.New(httpkind.Options{Web: web(chat, "", "")})
		Expect(err).To(MatchError(ContainSubstring("no application; set run to")))
	})

	It("has ended after the trial was canceled, during its start or later", func() {
		here, _ := site()
		starting, stop := context.WithCancelCause(ctx)
		time.AfterFunc(50*time.Millisecond, func() { stop(context.Canceled) })
		_, err := agent(web(chat, "", ""), "silent").Start(starting, here)
		Expect(err).To(MatchError(context.Canceled))

		trial, cut := context.WithCancel(ctx)
		s, err := agent(web(chat, "$.reply", ""), "assistant").Start(trial, here)
		Expect(err).NotTo(HaveOccurred())
		cut()
		Eventually(func() error { _, err := s.Say(ctx, "x"); return err }).Should(beError(app.Crashed, "it was killed from here"))
		Expect(s.End(ctx)).To(Succeed())
	})
})
