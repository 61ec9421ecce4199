package drive_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/mocks"
)

var _ = Describe("The socket server", Label("H-02"), func() {
	It("does not serve a trial from the script of another", func() {
		env := newEnv()
		const trials = 200
		texts := make([]string, trials)
		var all sync.WaitGroup
		for i := range trials {
			d := driver(env, fmt.Sprintf("drive: {loop: {prompt: Go on., stream: %t}}\nbackend: {as: socket, model: gpt-4.1-mini, replies: [{text: Working on %d.}, {text: \"%d\\nDONE\"}]}", i%2 == 0, i, i))
			all.Go(func() {
				t, _ := d.Trial(context.Background(), 1)
				texts[i] = fmt.Sprint(t.End.Status, t.End.HarnessError, " ", t.End.Text, t.Script)
			})
		}
		all.Wait()
		for i, text := range texts {
			Expect(text).To(Equal(fmt.Sprintf("done %d\nDONE%v", i, record.Script{})))
		}
	})

	It("gives each trial an unguessable address, which ends with the trial", func() {
		env := newEnv()
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		get := func(url string) (int, string) {
			response, err := client.Get(url + "/models")
			Expect(err).NotTo(HaveOccurred())
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			Expect(err).NotTo(HaveOccurred())
			return response.StatusCode, string(body)
		}
		program, err := mocks.Compile(mocks.Script{Model: "m", Replies: []mocks.Line{{Answer: mocks.Answer{Text: mocks.EmptyText}}}})
		Expect(err).NotTo(HaveOccurred())
		var bases []string
		for range 2 {
			base, release, err := drive.Attach(env, mocks.NewEngine(program, mocks.EngineOptions{}))
			Expect(err).NotTo(HaveOccurred())
			Expect(base).To(MatchRegexp(`^http://127\.0\.0\.1:\d+/t/\d{39}/v1$`))
			Expect(bases).NotTo(ContainElement(base))
			bases = append(bases, base)
			status, _ := get(base)
			Expect(status).To(Equal(http.StatusOK))
			root, _, _ := strings.Cut(base, "/t/")
			for _, guess := range []string{"/v1", "/t/1/v1", "/t/2/v1", "/t//v1"} {
				status, body := get(root + guess)
				Expect(status).To(Equal(http.StatusNotFound))
				Expect(body).To(ContainSubstring("unknown_trial"))
			}
			Expect(release()).To(Succeed())
			status, body := get(base)
			Expect(status).To(Equal(http.StatusNotFound))
			Expect(body).To(ContainSubstring("unknown_trial"))
		}
	})

	It("can be closed twice, and starts again when it is needed", func() {
		env := newEnv()
		const text = "drive: {loop: {prompt: Go on.}}\nbackend: {as: socket, model: gpt-4.1-mini, replies: [{text: DONE}]}"
		for range 2 {
			t, _ := driver(env, text).Trial(context.Background(), 1)
			Expect(t.End.Status).To(Equal("done"), "%s", t.End.Details)
			Expect(env.Close()).To(Succeed())
			Expect(env.Close()).To(Succeed())
		}
	})

	It("releases an abandoned client", func() {
		env := newEnv()
		// The client gives up by itself only on the first and the last fault, which must fire before that on a busy machine, too.
		faults := []string{"timeout", "reset-before-headers", "reset-mid-stream", "truncated-stream", "{kind: slow-drip, delay: 600ms}"}
		for _, fault := range faults {
			t, _ := driver(env, "drive: {loop: {prompt: Go on., stream: true, call_timeout: 1s}}\nbackend: {as: socket, model: gpt-4.1-mini, replies: [{text: \"Word by word.\\nDONE\", fault: "+fault+"}]}").Trial(context.Background(), 1)
			Expect(t.End.HarnessError).To(BeEmpty())
			Expect(t.End.Status).To(Equal("error"))
			Expect(t.Script.Unfired).To(BeEmpty())
		}
	})
})
