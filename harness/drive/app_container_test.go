package drive_test

import (
	"context"
	"net"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// What a container does with Docker is in test/container.
var _ = Describe("A container without Docker", func() {
	const text = "name: spec/one\ndrive:\n  container:\n    image: busybox\n    port: 80\n    request: {path: '/{{.Turn}}'}\n" + twoTurns +
		"backend:\n  unpriced: true\n" + twoReplies + "expect: {status: done}\n"

	BeforeEach(func() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		Expect(l.Close()).To(Succeed())
		GinkgoT().Setenv("DOCKER_HOST", "tcp://"+l.Addr().String()) // nobody is there
	})

	It("is skipped, with the reason", func() {
		t := carryOut(context.Background(), text)
		Expect(t.End.Skipped).To(ContainSubstring("there is no Docker to run a container in: "))
		Expect(t.End.HarnessError).To(BeEmpty())
	})

	It("is an error where it is required, by the scenario or by whoever runs it", func() {
		t := carryOut(context.Background(), strings.Replace(text, "port: 80", "port: 80\n    required: true", 1))
		Expect(t.End.HarnessError).To(ContainSubstring("there is no Docker to run a container in: "))

		sc, found := scenarios.Parse("spec.yaml", []byte(text), nil, scenarios.Options{})
		Expect(found).To(BeEmpty())
		env := newEnv()
		env.Required = true
		d, err := drive.New(sc, env)
		Expect(err).NotTo(HaveOccurred())
		t, _ = d.Trial(context.Background(), 1)
		Expect(t.End.HarnessError).To(ContainSubstring("there is no Docker to run a container in: "))
	})
})
