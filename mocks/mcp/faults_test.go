package mcp_test

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
)

var _ = Describe("An injected fault", Label("H-04"), func() {
	It("fires at its call only, and leaves the line to the next one", func() {
		p := start(clock.Real(), server("http", "replies: [{text: a}, {text: b}]"), mcp.Injection{Call: 2, Kind: "error", Name: "tool=2:error"},
			mcp.Injection{Call: 3, Kind: "protocol_error", Name: "tool=3:protocol_error"}, mcp.Injection{Call: 9, Kind: "exit", Name: "tool=9:exit"})
		session, err := connect(p.overHTTP("tickets"), noChange)
		Expect(err).NotTo(HaveOccurred())
		result, err := lookup(session, "1")
		Expect(err).NotTo(HaveOccurred())
		Expect(text(result)).To(Equal("a"))
		result, err = lookup(session, "1")
		Expect(err).NotTo(HaveOccurred())
		Expect(result.IsError).To(BeTrue())
		_, err = lookup(session, "1")
		Expect(err).To(MatchError(ContainSubstring("internal error")))
		result, err = lookup(session, "1")
		Expect(err).NotTo(HaveOccurred())
		Expect(text(result)).To(Equal("b"))
		calls, report := p.ended()
		Expect(report).To(Equal(mcp.Report{
			Unfired: []string{"tool=9:exit: no such call was made"}, Injected: map[string]int{"tool=2:error": 1, "tool=3:protocol_error": 1},
		}))
		Expect(calls).To(HaveExactElements(HaveField("Fault", ""), HaveField("Fault", "error"), HaveField("Fault", "protocol_error"), HaveField("Fault", "")))
	})
})

var _ = Describe("A fault", func() {
	It("exit over HTTP cuts the call, refuses one request and forgets the session; the script continues", func() {
		p := start(clock.Real(), server("http", "replies: [{text: a, fault: exit}, {text: b}]"))
		via := p.overHTTP("tickets")
		session, err := connect(via, noChange)
		Expect(err).NotTo(HaveOccurred())
		_, err = lookup(session, "1")
		Expect(err).To(HaveOccurred())
		_, err = connect(via, noChange)
		Expect(err).To(HaveOccurred(), "the server is starting")
		session, err = connect(via, noChange)
		Expect(err).NotTo(HaveOccurred())
		for _, want := range []string{"a", "b"} {
			result, err := lookup(session, "1")
			Expect(err).NotTo(HaveOccurred())
			Expect(text(result)).To(Equal(want))
		}
		calls, report := p.ended()
		Expect(report).To(Equal(mcp.Report{}))
		Expect(calls[0]).To(And(HaveField("Fault", "exit"), HaveField("Error", "the scripted server ended")))
	})

	It("exit ends the program of a stdio server; another process continues the script", func() {
		p := start(clock.Real(), server("stdio", "replies: [{fault: exit}, {text: b}]"))
		via := p.overStdio("tickets")
		session, err := connect(via(), noChange)
		Expect(err).NotTo(HaveOccurred())
		_, err = lookup(session, "1")
		Expect(err).To(HaveOccurred())
		Expect(session.Wait()).To(Or(Succeed(), HaveOccurred()), "it has ended")
		session, err = connect(via(), noChange)
		Expect(err).NotTo(HaveOccurred())
		result, err := lookup(session, "1")
		Expect(err).NotTo(HaveOccurred())
		Expect(text(result)).To(Equal("b"))
		Expect(session.Close()).To(Succeed())
		_, report := p.ended()
		Expect(report).To(Equal(mcp.Report{}))
	})

	DescribeTable("malformed is not valid JSON",
		func(transport string, via func(p *play) sdk.Transport) {
			p := start(clock.Real(), server(transport, "replies: [{fault: malformed}]"))
			session, err := connect(via(p), noChange)
			Expect(err).NotTo(HaveOccurred())
			_, err = lookup(session, "1")
			Expect(err).To(HaveOccurred())
			_ = session.Close()
			calls, report := p.ended()
			Expect(report).To(Equal(mcp.Report{}))
			Expect(calls).To(HaveExactElements(HaveField("Fault", "malformed")))
		},
		Entry("over HTTP", "http", func(p *play) sdk.Transport { return p.overHTTP("tickets") }),
		Entry("in process", "http", func(p *play) sdk.Transport { return p.inProcess("tickets") }),
		Entry("over standard input and output", "stdio", func(p *play) sdk.Transport { return p.overStdio("tickets")() }),
	)

	DescribeTable("list_changed is announced, and the later tools are there",
		func(transport string, via func(p *play) sdk.Transport) {
			p := start(clock.Real(), server(transport, "replies: [{text: a, fault: list_changed}]"))
			announced := make(chan struct{}, 10)
			session, err := connect(via(p), func() { announced <- struct{}{} })
			Expect(err).NotTo(HaveOccurred())
			defer session.Close()
			result, err := lookup(session, "1")
			Expect(err).NotTo(HaveOccurred())
			Expect(text(result)).To(Equal("a"))
			Eventually(announced, 5*time.Second).Should(Receive())
			tools, err := session.ListTools(context.Background(), nil)
			Expect(err).NotTo(HaveOccurred())
			Expect(tools.Tools).To(ContainElement(HaveField("Name", "close")))
			result, err = session.CallTool(context.Background(), &sdk.CallToolParams{Name: "close"})
			Expect(err).NotTo(HaveOccurred())
			Expect(text(result)).To(Equal("closed"))
		},
		Entry("over HTTP", "http", func(p *play) sdk.Transport { return p.overHTTP("tickets") }),
		Entry("over standard input and output", "stdio", func(p *play) sdk.Transport { return p.overStdio("tickets")() }),
	)

	It("hang ends with the trial", func() {
		p := start(clock.Real(), server("http", "replies: [{fault: hang}]"))
		session, err := connect(p.overHTTP("tickets"), noChange)
		Expect(err).NotTo(HaveOccurred())
		done := make(chan error, 1)
		go func() {
			_, err := lookup(session, "1")
			done <- err
		}()
		Eventually(func() []string { return p.engine.Report().Unfired }, 5*time.Second).Should(BeEmpty())
		calls, _ := p.ended()
		Expect(calls).To(HaveExactElements(HaveField("Fault", "hang")))
		Eventually(done, 5*time.Second).Should(Receive(HaveOccurred()))
	})
})
