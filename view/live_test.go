package view_test

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/reports/rundir"
	"github.com/rehearse-dev/rehearse/view"
)

// liveRun is a run in progress, which writes its recording line by line.
type liveRun struct {
	folder *atomicdir.Folder
	file   *atomicdir.File
	lines  []string
}

// begin begins a run in a folder whose recording will have these scenarios.
func begin(dir string, list ...shown) *liveRun {
	GinkgoHelper()
	folder, err := atomicdir.Open(dir)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(folder.Close)
	file, err := folder.Create("recording.jsonl")
	Expect(err).NotTo(HaveOccurred())
	var b bytes.Buffer
	recordingOf(&b, "plan", list...)
	return &liveRun{folder, file, strings.SplitAfter(b.String(), "\n")}
}

// write writes up to the end of trial n of those that are left; with 0 all that is left.
func (l *liveRun) write(n int) {
	GinkgoHelper()
	for len(l.lines) > 0 {
		line := l.lines[0]
		l.lines = l.lines[1:]
		_, err := l.file.WriteString(line)
		Expect(err).NotTo(HaveOccurred())
		if strings.Contains(line, `"type":"end"`) {
			if n--; n == 0 {
				break
			}
		}
	}
	Expect(l.file.Flush()).To(Succeed())
}

// finish completes the recording.
func (l *liveRun) finish() {
	GinkgoHelper()
	l.write(0)
	Expect(l.folder.Commit(l.file)).To(Succeed())
}

// stream is an open stream of events.
type stream struct {
	close context.CancelFunc
	lines chan string
}

func (f *fixture) stream(ctx context.Context, path string) *stream {
	GinkgoHelper()
	return f.streamAfter(ctx, path, "")
}

// streamAfter opens a stream as a browser does that received an event with an id before.
func (f *fixture) streamAfter(ctx context.Context, path, id string) *stream {
	GinkgoHelper()
	ctx, cancel := context.WithCancel(ctx)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.http.URL+path, nil)
	Expect(err).NotTo(HaveOccurred())
	r.Header.Set("Authorization", "Bearer "+token)
	if id != "" {
		r.Header.Set("Last-Event-ID", id)
	}
	response, err := f.client.Do(r)
	Expect(err).NotTo(HaveOccurred())
	Expect(response.Header.Get("Content-Type")).To(Equal("text/event-stream"))
	s := &stream{cancel, make(chan string, 1000)}
	go func() {
		defer response.Body.Close()
		defer close(s.lines)
		for in := bufio.NewScanner(response.Body); in.Scan(); {
			s.lines <- in.Text()
		}
	}()
	DeferCleanup(func() {
		cancel()
		Eventually(s.lines).WithTimeout(5 * time.Second).Should(BeClosed())
	})
	return s
}

// until waits for a line and returns what came up to it.
func (s *stream) until(ctx SpecContext, text string) string {
	GinkgoHelper()
	var all strings.Builder
	for {
		select {
		case line, ok := <-s.lines:
			Expect(ok).To(BeTrue(), "the stream ended before %q:\n%s", text, all.String())
			all.WriteString(line + "\n")
			if strings.Contains(line, text) {
				return all.String()
			}
		case <-ctx.Done():
			Fail("no " + text + " in:\n" + all.String())
		}
	}
}

var _ = Describe("a run in progress", Label("H-04"), func() {
	var f *fixture
	var dir, path string
	BeforeEach(func(ctx SpecContext) {
		f = newFixture(ctx)
		dir = filepath.Join(f.dir, "runs", "20260401-120000")
		path = view.LivePath(dir)
	})

	It("is listed, shown so far, followed by events, and becomes a run of the history", func(ctx SpecContext) {
		run := begin(dir, shown{"a", []string{"x", "y"}, "done"}, shown{"<b>", []string{"z"}, "error"})
		run.write(1)
		Expect(f.text("/")).To(And(ContainSubstring(`href="`+path+`"`), ContainSubstring("running")))
		now := f.text(path)
		Expect(now).To(And(ContainSubstring("1 of 3 trials: 1 pass"), ContainSubstring(`data-events="`+path+`/events"`)))
		Expect(f.text(path + "/s/a/t/1")).To(ContainSubstring("Prompt: x"))
		Expect(f.get(path + "/s/a/t/2").StatusCode).To(Equal(http.StatusNotFound))

		events := f.stream(ctx, path+"/events")
		first := events.until(ctx, `"name":"a"`)
		Expect(first).To(And(ContainSubstring("event: progress"), ContainSubstring(`"done":1,"planned":3`)))
		run.write(2)
		more := events.until(ctx, `"name":"\u003cb\u003e"`)
		Expect(more).To(ContainSubstring(`"verdict":"fail"`))
		Expect(f.text(path)).To(And(ContainSubstring("3 of 3 trials"), ContainSubstring("&lt;b&gt;")))
		run.finish()
		Consistently(events.lines).WithTimeout(50*time.Millisecond).ShouldNot(Receive(ContainSubstring("event: done")), "the run is not stored yet")

		e, err := rundir.ReadEntry(ctx, filepath.Join(dir, "recording.jsonl"), kinds.Language())
		Expect(err).NotTo(HaveOccurred())
		e.ID = history.NewID(e.SHA256, start, dir)
		Expect(f.past.Add(ctx, &e, false)).To(BeTrue())
		Expect(run.folder.Close()).To(Succeed())
		Expect(events.until(ctx, `"link"`)).To(ContainSubstring(`{"link":"/runs/` + e.ID + `"}`))
		a := f.get(path)
		Expect(a.StatusCode).To(Equal(http.StatusSeeOther))
		Expect(a.Header.Get("Location")).To(Equal("/runs/" + e.ID))
		Expect(f.text("/")).NotTo(ContainSubstring(path))
	})

	It("is shown to several readers, who may leave", func(ctx SpecContext) {
		run := begin(dir, shown{"a", []string{"x", "y", "z"}, "done"})
		run.write(1)
		one, two := f.stream(ctx, path+"/events"), f.stream(ctx, path+"/events")
		one.until(ctx, `"name":"a"`)
		two.until(ctx, `"name":"a"`)
		one.close()
		run.write(1)
		two.until(ctx, `"done":2`)
		Eventually(func() string { return f.get("/metrics").body }).WithTimeout(5 * time.Second).Should(ContainSubstring("rehearse_view_streams 1"))
		late := f.stream(ctx, path+"/events")
		Expect(late.until(ctx, `"name":"a"`)).To(ContainSubstring(`"done":2`), "a new reader gets the whole state")
	})

	It("that was cut off is shown as far as it goes", func(ctx SpecContext) {
		run := begin(dir, shown{"a", []string{"x", "y"}, "done"})
		run.write(1)
		Expect(run.folder.Close()).To(Succeed())
		Expect(f.text("/")).To(ContainSubstring("cut off"))
		Expect(f.text(path)).To(And(ContainSubstring("Run that was cut off"), ContainSubstring("1 of 2 trials"), Not(ContainSubstring("data-events"))))
		f.stream(ctx, path+"/events").until(ctx, `{"link":""}`)
	})

	It("starts anew in the same folder", func(ctx SpecContext) {
		run := begin(dir, shown{"old", []string{"x", "y"}, "done"})
		run.write(2)
		Expect(f.text(path)).To(ContainSubstring("2 of 2 trials"))
		Expect(run.folder.Close()).To(Succeed())
		again := begin(dir, shown{"new", []string{"x", "y", "z"}, "done"})
		again.write(1)
		Expect(f.text(path)).To(And(ContainSubstring("1 of 3 trials"), ContainSubstring("/s/new"), Not(ContainSubstring("/s/old"))))
	})

	It("whose folder disappears ends its events with the reason", func(ctx SpecContext) {
		run := begin(dir, shown{"a", []string{"x", "y"}, "done"})
		run.write(1)
		events := f.stream(ctx, path+"/events")
		events.until(ctx, `"name":"a"`)
		Expect(os.RemoveAll(dir)).To(Succeed())
		Expect(events.until(ctx, "data: \"")).To(ContainSubstring("event: problem"))
		Expect(f.get(path).StatusCode).To(Equal(http.StatusNotFound))
	})
})
