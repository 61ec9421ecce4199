package container_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"time"

	docker "github.com/moby/moby/client"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"
	"github.com/testcontainers/testcontainers-go"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/app/apptest"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/kind/container"
	httpkind "github.com/rehearse-dev/rehearse/harness/kind/http"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
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

// dockerfileIn adds a Dockerfile and the demo agent to a folder.
func dockerfileIn(folder string) {
	GinkgoHelper()
	Expect(os.WriteFile(filepath.Join(folder, "Dockerfile"), []byte(demo), 0o600)).To(Succeed())
}

// image is the image of the demo agent, built once.
const image = "demo-agent:test"

var built sync.Once

// needsImage skips the spec without Docker, and builds the image if it is missing.
func needsImage(ctx context.Context) {
	GinkgoHelper()
	needsDocker(ctx)
	built.Do(func() {
		folder := build("../demo/agent")
		dockerfileIn(folder)
		daemon, err := testcontainers.NewDockerProvider()
		Expect(err).NotTo(HaveOccurred())
		defer daemon.Close()
		_, err = daemon.BuildImage(ctx, &testcontainers.ContainerRequest{
			FromDockerfile: testcontainers.FromDockerfile{Context: folder, Repo: "demo-agent", Tag: "test"},
		})
		Expect(err).NotTo(HaveOccurred())
	})
}

var _ = AfterSuite(func(ctx SpecContext) {
	if noDocker(ctx) != nil {
		return
	}
	daemon, err := testcontainers.NewDockerProvider()
	Expect(err).NotTo(HaveOccurred())
	defer daemon.Close()
	_, _ = daemon.Client().ImageRemove(ctx, image, docker.ImageRemoveOptions{PruneChildren: true}) // if it was built
})

// demoContainer returns the drive section for the demo agent in a container of an existing image
// or of an image to build.
func demoContainer(of, do string) string {
	return "  container:\n    " + of + "\n    port: 8080\n    run: [-do, '" + do + "']\n    health: /healthz\n" +
		"    request: {path: /chat, body: '{\"session\": {{json .Session}}, \"message\": {{json .Turn}}}'}\n" +
		"    answer: $.answer\n    session: $.session\n"
}

// contained returns a scenario that drives the demo agent in a container.
func contained(of, do, more, backend string) string {
	return "name: spec/one\ndrive:\n" + demoContainer(of, do) + more + "backend:\n  unpriced: true\n" + backend + "expect: {status: done}\n"
}

func init() {
	const (
		first    = "the first process of a container cannot kill itself"
		children = "what a container starts ends with it"
	)
	apptest.Contract(apptest.Subject{
		Name:  "a container",
		Drive: func(do string) string { return demoContainer("image: "+image, do) },
		Run: func(ctx context.Context, text string) record.Trial {
			needsImage(ctx)
			t, _ := driver(text).Trial(ctx, 1)
			return t
		},
		Lacks: map[string]string{"crash": first, "early-crash": first, "fork": children, "daemon": children},
	})
}

const (
	turns   = "    turns: [What is it?, And then?]\n"
	replies = "  replies: [{text: It is this.}, {text: Then that.}]\n"
)

// driver returns the driver of a scenario.
func driver(text string) drive.Driver {
	GinkgoHelper()
	prices, err := price.Default()
	Expect(err).NotTo(HaveOccurred())
	before := gleak.Goroutines()
	env := &drive.Env{Makers: kinds.All().Makers(), Prices: prices, Tokens: token.NewCounter(token.Options{})}
	DeferCleanup(func() {
		Expect(env.Close()).To(Succeed())
		Eventually(gleak.Goroutines, "10s").ShouldNot(gleak.HaveLeaked(before))
	})
	sc, found := scenarios.Parse("spec.yaml", []byte(text), nil, scenarios.Options{Kinds: kinds.All().Formats()})
	Expect(found).To(BeEmpty())
	d, err := drive.New(sc, env)
	Expect(err).NotTo(HaveOccurred())
	return d
}

// answers returns the agent's answers.
func answers(t record.Trial) (all []string) {
	for _, e := range t.Events {
		if e.Name == "turn" {
			all = append(all, e.Detail)
		}
	}
	return all
}

var _ = Describe("an agent in a container", Label("docker", "H-08"), func() {
	BeforeEach(func(ctx SpecContext) { needsImage(ctx) })
	AfterEach(func(ctx SpecContext) {
		Expect(left(context.WithoutCancel(ctx))).To(BeEmpty(), "containers, images and networks are removed")
	})

	run := func(ctx context.Context, do, more, backend string) record.Trial {
		GinkgoHelper()
		t, _ := driver(contained("image: "+image, do, more, backend)).Trial(ctx, 1)
		return t
	}

	It("is built from a folder, driven and removed", func(ctx SpecContext) {
		folder := build("../demo/agent")
		dockerfileIn(folder)
		t, _ := driver(contained("build: "+folder, "", turns, replies)).Trial(ctx, 1)
		Expect(t.End.HarnessError + t.End.Details).To(BeEmpty())
		Expect(answers(t)).To(Equal([]string{"It is this.", "Then that."}))
	}, SpecTimeout(3*time.Minute))

	It("is killed and restarted with its files", func(ctx SpecContext) {
		p, err := perturb.Parse("turn=2:restart")
		Expect(err).NotTo(HaveOccurred())
		off, err := driver(contained("image: "+image, "", turns, replies)).Perturbed([]perturb.Perturbation{p})
		Expect(err).NotTo(HaveOccurred())
		t, _ := off.Trial(ctx, 1)
		Expect(t.End.HarnessError + t.End.Details).To(BeEmpty())
		Expect(answers(t)).To(Equal([]string{"It is this.", "Then that."}))
		Expect(t.Calls[1].Messages).To(HaveLen(4), "it remembers the conversation")
		Expect(t.Script.Unfired).To(BeEmpty())
	}, SpecTimeout(3*time.Minute))

	DescribeTable("is judged like any other agent",
		func(ctx SpecContext, do, more, backend, status, says string) {
			t := run(ctx, do, turns+more, backend)
			Expect(t.End.Status).To(Equal(status), t.End.HarnessError+t.End.Details)
			Expect(t.End.HarnessError + t.End.Details).To(ContainSubstring(says))
		},
		Entry("that ends in the middle of a turn", "end", "", replies, "crashed", "went away in the middle of the turn: the container ended with exit status 0", SpecTimeout(time.Minute)),
		Entry("that exits before it is ready", "start-exit", "", replies, "error", "ended before it accepted a request: the container ended with exit status 7; the end of its log: demo agent: it was told to fail", SpecTimeout(time.Minute)),
		Entry("that is never healthy", "start-ill", "    health_timeout: 1s\n", replies, "error", "/healthz answers with the HTTP status 503", SpecTimeout(time.Minute)),
		Entry("that does not listen", "start-hang", "    health_timeout: 1s\n", replies, "error", "could not be spoken to within 1s (health_timeout): connection refused", SpecTimeout(time.Minute)),
		Entry("whose backend cuts a connection", "", "", "  replies: [{fault: {kind: reset-before-headers}}, {text: It is this.}]\n", "failed", "connection reset by peer", SpecTimeout(time.Minute)),
	)

	It("is removed if the trial is cancelled while it starts", func(ctx SpecContext) {
		starting, stop := context.WithCancel(ctx)
		time.AfterFunc(400*time.Millisecond, stop)
		t := run(starting, "start-hang", turns, replies)
		Expect(t.End.Status).NotTo(Equal("done"))
	}, SpecTimeout(time.Minute))

	It("is reached through a published port if its network has a route out", func(ctx SpecContext) {
		model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"choices": [{"message": {"role": "assistant", "content": "It is this."}}]}`)
		}))
		DeferCleanup(model.Close)
		web := httpkind.Web{Request: httpkind.Request{Path: "/chat", Body: `{"message": {{json .Turn}}}`}, Health: "/healthz"}
		agent, err := container.New(container.Options{Image: image, Port: 8080, Routed: true, Web: web})
		Expect(err).NotTo(HaveOccurred())
		var emitted []string
		s, err := agent.Start(ctx, app.Site{
			Env: app.Variables(model.URL), Clock: clock.Real(),
			Emit: func(e event.Event) { emitted = append(emitted, e.Name) },
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(s.Say(ctx, "What is it?")).To(HaveField("Text", ContainSubstring("It is this.")))
		Expect(emitted).To(Equal([]string{"egress"}))
		Expect(s.End(ctx)).To(Succeed())
		Expect(s.End(ctx)).To(Succeed(), "ending twice is harmless")
	}, SpecTimeout(time.Minute))

	It("finds the files of the workspace", func(ctx SpecContext) {
		text := contained("image: "+image, "", "    files: {notes/a.txt: A note.}\n    env: {HOME: /workspace/notes}\n"+turns, replies)
		t, _ := driver(text).Trial(ctx, 1)
		Expect(t.End.HarnessError+t.End.Details).To(BeEmpty(), "it can write next to the note")
	}, SpecTimeout(time.Minute))

	It("returns the files that are in the workspace at the end, not the initial ones", func(ctx SpecContext) {
		write := func(path, text string) string {
			return fmt.Sprintf("    - {tool_calls: [{name: write_file, arguments: {path: %s, text: %s}}]}\n", path, text)
		}
		text := contained("image: "+image, "", "    files: {notes.txt: First., sub/same.txt: Same.}\n"+turns,
			"  replies:\n"+write("workspace/notes.txt", "OVERWRITTEN")+write("workspace/sub/out.txt", "Made.")+"    - {text: Done.}\n    - {text: Then that.}\n")
		t, _ := driver(text).Trial(ctx, 1)
		Expect(t.End.HarnessError + t.End.Details).To(BeEmpty())
		files := map[string]string{}
		for _, e := range t.Events {
			if e.Name == "file" {
				files[fmt.Sprint(e.Attrs["path"])] = e.Detail
			}
		}
		Expect(files).To(Equal(map[string]string{"notes.txt": "OVERWRITTEN", "sub/same.txt": "Same.", "sub/out.txt": "Made."}))
	}, SpecTimeout(time.Minute))

	It("removes its images, containers and networks, and no others", func(ctx SpecContext) {
		daemon, err := testcontainers.NewDockerProvider()
		Expect(err).NotTo(HaveOccurred())
		defer daemon.Close()
		images := func() (all []string) {
			list, err := daemon.Client().ImageList(ctx, docker.ImageListOptions{})
			Expect(err).NotTo(HaveOccurred())
			for _, i := range list.Items {
				all = append(all, append(i.RepoTags, i.ID)...)
			}
			return all
		}
		before := images()
		folder := build("../demo/agent")
		dockerfileIn(folder)
		// The same folder gives the same image; names that others gave it are kept.
		t, _ := driver(contained("build: "+folder, "", turns, replies)).Trial(ctx, 1)
		Expect(t.End.HarnessError + t.End.Details).To(BeEmpty())
		Expect(images()).To(ConsistOf(before))
	}, SpecTimeout(3*time.Minute))

	It("cannot be built without a valid Dockerfile", func(ctx SpecContext) {
		empty := GinkgoT().TempDir()
		dockerfileIn(empty)
		text := contained("build: "+empty, "", turns, replies)
		t, _ := driver(text).Trial(ctx, 1)
		Expect(t.End.HarnessError).To(ContainSubstring("the container of " + empty + " cannot be made"))
		Expect(t.End.HarnessError).To(ContainSubstring("program"))
		Expect(os.Remove(filepath.Join(empty, "Dockerfile"))).To(Succeed())
		t, _ = driver(text).Trial(ctx, 1)
		Expect(t.End.HarnessError).To(ContainSubstring("Dockerfile"))
	}, SpecTimeout(time.Minute))
})

// left returns the remaining containers, images and networks of driven agents.
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
