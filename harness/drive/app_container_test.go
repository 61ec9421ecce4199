package drive_test

import (
	"context"
	"net"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Specs with Docker are in test/container.
var _ = Describe("A container without Docker", func() {
	const text = "name: spec/one\ndrive:\n  container:\n    image: busybox\n    port: 80\n    request: {path: '/{{.Turn}}'}\n" + twoTurns +
		"backend:\n  unpriced: true\n" + twoReplies + "expect: {status: done}\n"

	It("is skipped, with the reason", func() {
		GinkgoT().Setenv("DOCKER_HOST", "")
		t := carryOut(context.Background(), text)
		if t.End.Skipped == "" {
			Skip("this machine has Docker")
		}
		Expect(t.End.Skipped).To(ContainSubstring("Docker, which runs the container, cannot be reached: "))
		Expect(t.End.HarnessError).To(BeEmpty())
	})

	DescribeTable("is an error if Docker does not answer at DOCKER_HOST, even if it answers at another address",
		func(scheme, wants string) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			Expect(err).NotTo(HaveOccurred())
			Expect(l.Close()).To(Succeed())
			host := scheme + l.Addr().String() // nothing listens there
			GinkgoT().Setenv("DOCKER_HOST", host)
			t := carryOut(context.Background(), text)
			Expect(t.End.Skipped).To(BeEmpty())
			Expect(t.End.HarnessError).To(And(ContainSubstring("Docker does not answer at DOCKER_HOST="), ContainSubstring(wants), ContainSubstring("correct or unset DOCKER_HOST")))
		},
		Entry("at a port", "tcp://", "Cannot connect"),
		Entry("at a socket", "unix:///nowhere/", "no such file"),
		Entry("at an invalid address", "%", "unable to parse docker host"),
	)

	It("is an error if it is required, by the scenario or by the run", func() {
		GinkgoT().Setenv("DOCKER_HOST", "")
		required := strings.Replace(text, "port: 80", "port: 80\n    required: true", 1)
		if t := carryOut(context.Background(), text); t.End.Skipped == "" {
			Skip("this machine has Docker")
		}
		t := carryOut(context.Background(), required)
		Expect(t.End.HarnessError).To(ContainSubstring("Docker, which runs the container, cannot be reached: "))

		sc, found := scenarios.Parse("spec.yaml", []byte(text), nil, scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(found).To(BeEmpty())
		env := newEnv()
		env.Required = true
		d, err := drive.New(sc, env)
		Expect(err).NotTo(HaveOccurred())
		t, _ = d.Trial(context.Background(), 1)
		Expect(t.End.HarnessError).To(ContainSubstring("Docker, which runs the container, cannot be reached: "))
	})
})
