package container_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// needsDocker skips the spec unless Docker can run Linux containers.
func needsDocker(ctx context.Context) {
	GinkgoHelper()
	// The library's helper container that removes containers would have to be downloaded;
	// these specs remove their own.
	GinkgoT().Setenv("TESTCONTAINERS_RYUK_DISABLED", "true")
	if reason := noDocker(ctx); reason != nil {
		Skip(fmt.Sprintf("there is no Docker to run a container in: %v", reason))
	}
}

func noDocker(ctx context.Context) (reason error) {
	defer func() { // the library may panic without Docker
		if p := recover(); p != nil {
			reason = fmt.Errorf("%v", p)
		}
	}()
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return err
	}
	defer provider.Close()
	return provider.Health(ctx)
}

// dockerfile builds an image that contains only the program.
const dockerfile = `FROM scratch
COPY program /rehearse
ENV REHEARSE_OFFLINE=1
EXPOSE 8080
ENTRYPOINT ["/rehearse", "interview", "serve", "--listen", "0.0.0.0:8080", "--store", "/interviews.db"]
CMD ["--open", "--script", "lea", "--time-scale", "0.001"]
`

// build creates the folder of an image with a program that is linked statically, as in the
// Makefile.
func build(program string) string {
	GinkgoHelper()
	folder := GinkgoT().TempDir()
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(folder, "program"), program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH)
	out, err := cmd.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
	return folder
}

// client is a candidate's program.
type client struct{ url string }

// send posts a submission and expects it to be accepted.
func (c client) send(ctx context.Context, submission map[string]string) interview.View {
	GinkgoHelper()
	body, err := json.Marshal(submission)
	Expect(err).NotTo(HaveOccurred())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/axiom", bytes.NewReader(body))
	Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	Expect(response.StatusCode).To(Equal(http.StatusOK), string(text))
	var view interview.View
	Expect(json.Unmarshal(text, &view)).To(Succeed())
	return view
}

var _ = Describe("the program in a container", Label("docker"), func() {
	It("serves an interview, shuts down gracefully and resumes", func(ctx SpecContext) {
		needsDocker(ctx)
		folder := build("../../cmd/rehearse")
		Expect(os.WriteFile(filepath.Join(folder, "Dockerfile"), []byte(dockerfile), 0o600)).To(Succeed())
		c, err := testcontainers.Run(ctx, "",
			testcontainers.WithDockerfile(testcontainers.FromDockerfile{Context: folder, Repo: "rehearse-test", Tag: "interview"}),
			testcontainers.WithExposedPorts("8080/tcp"),
			testcontainers.WithWaitStrategyAndDeadline(time.Minute, wait.ForHTTP("/readyz").WithPort("8080/tcp")),
		)
		DeferCleanup(func() { Expect(testcontainers.TerminateContainer(c)).To(Succeed()) })
		Expect(err).NotTo(HaveOccurred())
		at := func() client {
			url, err := c.PortEndpoint(ctx, "8080/tcp", "http")
			Expect(err).NotTo(HaveOccurred())
			return client{url}
		}

		here := at()
		view := here.send(ctx, map[string]string{"event": "START", "candidateId": "lea"})
		id := view.SessionID
		for _, answer := range []string{"Léa", "tu"} {
			view = here.send(ctx, map[string]string{"sessionId": id, "message": answer, "replyTo": view.MessageID})
		}
		Expect(view.Step).To(Equal(session.Preamble))
		view = here.send(ctx, map[string]string{"sessionId": id, "event": "GO", "replyTo": view.MessageID})
		view = here.send(ctx, map[string]string{"sessionId": id, "message": "E", "replyTo": view.MessageID})
		Expect(view.Step).To(Equal(session.Block1))
		Expect(view.QuestionIndex).To(Equal(1))

		grace := 20 * time.Second // after which it would be killed
		Expect(c.Stop(ctx, &grace)).To(Succeed())
		state, err := c.State(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(state.Running).To(BeFalse())
		Expect(state.ExitCode).To(Equal(0), "it must exit by itself on the signal")

		Expect(c.Start(ctx)).To(Succeed())
		again := at().send(ctx, map[string]string{"sessionId": id, "event": "RESUME"})
		Expect(again).To(Equal(view), "the same question, word for word")
	}, SpecTimeout(5*time.Minute))
})
