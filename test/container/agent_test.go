package container_test

import (
	"context"
	"os"
	"path/filepath"
	"time"

	docker "github.com/moby/moby/client"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"
	"github.com/testcontainers/testcontainers-go"

	"github.com/rehearse-dev/rehearse/harness/app/container"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// demo is the image of the demo agent as an HTTP application.
const demo = `FROM scratch
COPY program /agent
ENV REHEARSE_DEMO=http HOST=0.0.0.0 HOME=/
ENTRYPOINT ["/agent"]
`

// contained is a scenario that drives the demo agent in a container.
func contained(folder, do, more, backend string) string {
	GinkgoHelper()
	Expect(os.WriteFile(filepath.Join(folder, "Dockerfile"), []byte(demo), 0o600)).To(Succeed())
	return "name: spec/one\ndrive:\n  container:\n    build: " + folder + "\n    port: 8080\n    run: [-do, '" + do + "']\n    health: /healthz\n" +
		"    request: {path: /chat, body: '{\"session\": {{json .Session}}, \"message\": {{json .Turn}}}'}\n" +
		"    answer: $.answer\n    session: $.session\n" + more + "backend:\n  unpriced: true\n" + backend + "expect: {status: done}\n"
}

const (
	turns   = "    turns: [What is it?, And then?]\n"
	replies = "  replies: [{text: It is this.}, {text: Then that.}]\n"
)

// driver is the driver of a scenario.
func driver(text string) drive.Driver {
	GinkgoHelper()
	prices, err := price.Default()
	Expect(err).NotTo(HaveOccurred())
	before := gleak.Goroutines()
	env := &drive.Env{Prices: prices, Tokens: token.NewCounter(token.Options{})}
	DeferCleanup(func() {
		Expect(env.Close()).To(Succeed())
		Eventually(gleak.Goroutines, "10s").ShouldNot(gleak.HaveLeaked(before))
	})
	sc, found := scenarios.Parse("spec.yaml", []byte(text), nil, scenarios.Options{})
	Expect(found).To(BeEmpty())
	d, err := drive.New(sc, env)
	Expect(err).NotTo(HaveOccurred())
	return d
}

// answers are what the agent said.
func answers(t record.Trial) (all []string) {
	for _, e := range t.Events {
		if e.Name == "turn" {
			all = append(all, e.Detail)
		}
	}
	return all
}

var _ = Describe("an agent in a container", Label("docker", "H-02"), Ordered, ContinueOnFailure, func() {
	var folder string
	BeforeAll(func(ctx SpecContext) {
		needsDocker(ctx)
		folder = build("./demo")
	})
	AfterEach(func(ctx SpecContext) { Expect(left(ctx)).To(BeEmpty(), "containers, images and networks are removed") })

	run := func(ctx context.Context, do, more, backend string) record.Trial {
		GinkgoHelper()
		t, _ := driver(contained(folder, do, more, backend)).Trial(ctx, 1)
		return t
	}

	It("is built, driven and removed", func(ctx SpecContext) {
		t := run(ctx, "", turns, replies)
		Expect(t.End.HarnessError + t.End.Details).To(BeEmpty())
		Expect(t.End.Status).To(Equal("done"))
		Expect(answers(t)).To(Equal([]string{"It is this.", "Then that."}))
		Expect(t.Calls).To(HaveLen(2))
		Expect(t.Calls[1].Messages).To(HaveLen(4))
	}, SpecTimeout(3*time.Minute))

	It("is killed and started again with what it kept", func(ctx SpecContext) {
		p, err := perturb.Parse("turn=2:restart")
		Expect(err).NotTo(HaveOccurred())
		off, err := driver(contained(folder, "", turns, replies)).Perturbed([]perturb.Perturbation{p})
		Expect(err).NotTo(HaveOccurred())
		t, _ := off.Trial(ctx, 1)
		Expect(t.End.HarnessError + t.End.Details).To(BeEmpty())
		Expect(answers(t)).To(Equal([]string{"It is this.", "Then that."}))
		Expect(t.Calls[1].Messages).To(HaveLen(4), "it remembers what was said")
		Expect(t.Script.Unfired).To(BeEmpty())
	}, SpecTimeout(3*time.Minute))

	DescribeTable("is judged as any other",
		func(ctx SpecContext, do, more, backend, status, says string) {
			t := run(ctx, do, turns+more, backend)
			Expect(t.End.Status).To(Equal(status), t.End.HarnessError+t.End.Details)
			Expect(t.End.HarnessError + t.End.Details).To(ContainSubstring(says))
		},
		Entry("that ends in the middle of a turn", "end", "", replies, "crashed", "went away in the middle of the turn: the container ended with exit status 0", SpecTimeout(time.Minute)),
		Entry("that exits before it can be spoken to", "start-exit", "", replies, "error", "ended before it could be spoken to: the container ended with exit status 7; the end of its log: demo agent: it was told to fail", SpecTimeout(time.Minute)),
		Entry("that is never healthy", "start-ill", "    health_timeout: 1s\n", replies, "error", "/healthz answers with the HTTP status 503", SpecTimeout(time.Minute)),
		Entry("that listens nowhere", "start-hang", "    health_timeout: 1s\n", replies, "error", "could not be spoken to within 1s (health_timeout): connection refused", SpecTimeout(time.Minute)),
		Entry("that hangs", "hang", "    timeout: 1s\n", replies, "timeout", "had no answer within 1s", SpecTimeout(time.Minute)),
		Entry("that the user interrupts", "hang", "    interrupt_after: 2s\n", replies, "interrupted", "", SpecTimeout(time.Minute)),
		Entry("that calls the provider itself", "elsewhere", "", replies, "error", "the agent called api.openai.com:443, which was refused", SpecTimeout(time.Minute)),
		Entry("that calls more than it may", "", "    max_calls: 1\n", replies, "budget", "calls", SpecTimeout(time.Minute)),
		Entry("whose backend cuts a connection", "", "", "  replies: [{fault: {kind: reset-before-headers}}, {text: It is this.}]\n", "failed", "connection reset by peer", SpecTimeout(time.Minute)),
	)

	It("is removed when the trial is given up while it starts", func(ctx SpecContext) {
		starting, stop := context.WithCancel(ctx)
		time.AfterFunc(400*time.Millisecond, stop)
		t := run(starting, "start-hang", turns, replies)
		Expect(t.End.Status).NotTo(Equal("done"))
	}, SpecTimeout(time.Minute))

	It("cannot be made of a folder without a Dockerfile, nor of a broken one", func(ctx SpecContext) {
		empty := GinkgoT().TempDir()
		text := contained(empty, "", turns, replies)
		t, _ := driver(text).Trial(ctx, 1)
		Expect(t.End.HarnessError).To(ContainSubstring("the container of " + empty + " cannot be made"))
		Expect(t.End.HarnessError).To(ContainSubstring("program"))
		Expect(os.Remove(filepath.Join(empty, "Dockerfile"))).To(Succeed())
		t, _ = driver(text).Trial(ctx, 1)
		Expect(t.End.HarnessError).To(ContainSubstring("Dockerfile"))
	}, SpecTimeout(time.Minute))
})

// left are the containers, images and networks of driven agents that are still there.
func left(ctx context.Context) (all []string) {
	GinkgoHelper()
	daemon, err := testcontainers.NewDockerProvider()
	Expect(err).NotTo(HaveOccurred())
	defer daemon.Close()
	ours := make(docker.Filters).Add("label", container.Label)
	containers, err := daemon.Client().ContainerList(ctx, docker.ContainerListOptions{All: true, Filters: ours})
	Expect(err).NotTo(HaveOccurred())
	for _, c := range containers.Items {
		all = append(all, c.Names...)
	}
	networks, err := daemon.Client().NetworkList(ctx, docker.NetworkListOptions{Filters: ours})
	Expect(err).NotTo(HaveOccurred())
	for _, n := range networks.Items {
		all = append(all, n.Name)
	}
	images, err := daemon.Client().ImageList(ctx, docker.ImageListOptions{All: true, Filters: make(docker.Filters).Add("reference", "rehearse-*")})
	Expect(err).NotTo(HaveOccurred())
	for _, i := range images.Items {
		all = append(all, i.RepoTags...)
	}
	return all
}
