package watch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/watch"
)

var _ = Describe("Affected", Label("H-06"), func() {
	before := []watch.Item{
		{Name: "a", Digest: "1", Files: []string{"/p/bot/run"}, Programs: []string{"/p/bot"}},
		{Name: "b", Digest: "1"},
	}
	DescribeTable("names the items to run again", func(change func([]watch.Item) []watch.Item, changed string, want ...string) {
		after := append([]watch.Item{}, before...)
		if change != nil {
			after = change(after)
		}
		names := watch.Affected(before, after, strings.Fields(changed))
		Expect(names).To(HaveLen(len(want)))
		Expect(names).To(ContainElements(want))
	},
		Entry("none for a file that nothing names", nil, "/p/readme.py /q/bot/x.py /p/bots/x.py"),
		Entry("one with a new digest, whatever file was named", func(all []watch.Item) []watch.Item { all[1].Digest = "2"; return all }, "/x", "b"),
		Entry("a new one", func(all []watch.Item) []watch.Item { return append(all, watch.Item{Name: "c"}) }, "/x", "c"),
		Entry("none for a removed one", func(all []watch.Item) []watch.Item { return all[:1] }, "/x"),
		Entry("those of a changed source", nil, "/p/bot/lib/tools.PY", "a"),
		Entry("those of a changed program without an ending", nil, "/p/bot/run", "a"),
		Entry("none for what programs write", nil, "/p/bot/run.log /p/bot/state.sqlite /p/bot/out"),
		Entry("none for scenarios, which have digests", nil, "/p/bot/x.yaml"),
		Entry("none for temporary files", nil, "/p/bot/.run.py.swp /p/bot/a.py~ /p/bot/4913"),
	)
})

// ticks are the times of a scripted clock, by their duration.
type ticks map[time.Duration]chan time.Time

func (t ticks) after(d time.Duration) <-chan time.Time { return t[d] }

var _ = Describe("Batches", func() {
	const quiet, most = time.Second, time.Minute
	It("are sorted, without duplicates, and complete when nothing comes for a while", func() {
		events, clock := make(chan string), ticks{quiet: make(chan time.Time), most: make(chan time.Time)}
		out := watch.Batches(events, quiet, most, clock.after)
		for _, file := range []string{"b", "a", "b"} {
			events <- file
		}
		Consistently(out, "20ms").ShouldNot(Receive())
		clock[quiet] <- time.Time{}
		Expect(<-out).To(Equal([]string{"a", "b"}))
		events <- "c"
		clock[most] <- time.Time{} // changes that never end
		events <- "d"
		clock[quiet] <- time.Time{}
		Expect(<-out).To(Equal([]string{"c", "d"}), "it grows while nobody receives")
		close(events)
		Eventually(out).Should(BeClosed())
	})
})

// script is a Runner that notes what it should do.
type script struct {
	items []watch.Item
	err   error
	fail  string
	loads atomic.Int32
	did   chan string
}

func (s *script) Load() ([]watch.Item, error) {
	defer s.loads.Add(1) // after the fields were read
	return s.items, s.err
}

func (s *script) Problem(err error)      { s.did <- "problem " + err.Error() }
func (s *script) Idle(note string)       { s.did <- strings.TrimSpace("idle " + note) }
func (s *script) Filter(context.Context) { s.items = s.items[:1] }
func (s *script) Run(_ context.Context, names []string) []string {
	s.did <- "run " + strings.Join(names, " ")
	return strings.Fields(s.fail)
}

var _ = Describe("Session", Label("H-06"), func() {
	It("runs what changes and keys demand", func() {
		s := &script{items: []watch.Item{{Name: "a", Digest: "1"}, {Name: "b", Digest: "1"}}, fail: "b", did: make(chan string, 10)}
		changes, keys, ended := make(chan []string), make(chan watch.Key), make(chan bool)
		session := watch.Session{Runner: s}
		go func() { defer close(ended); session.Loop(context.Background(), changes, keys) }()
		did := func(want ...string) {
			GinkgoHelper()
			for _, w := range want {
				Eventually(s.did).Should(Receive(Equal(w)))
			}
			Expect(s.did).To(BeEmpty())
		}
		did("run a b", "idle")
		changes <- []string{"/other"}
		keys <- watch.KeyFailed
		did("run b", "idle")
		s.fail = ""
		keys <- watch.KeyAgain
		did("run b", "idle")
		keys <- watch.KeyFailed
		did("idle nothing failed")
		s.items = []watch.Item{{Name: "a", Digest: "2"}, {Name: "b", Digest: "1"}}
		changes <- []string{"/a.yaml"}
		did("run a", "idle")
		s.err = errors.New("line 3")
		changes <- []string{"/a.yaml"}
		did("problem line 3", "idle")
		loads := s.loads.Load()
		changes <- []string{"/w.log"} // the output of this program itself
		Eventually(s.loads.Load).Should(BeNumerically(">", loads))
		s.err = nil
		changes <- []string{"/a.yaml"}
		did("idle the files are valid again")
		s.items = s.items[:1]
		changes <- []string{"/b.yaml"}
		did("idle")
		s.items = []watch.Item{{Name: "a", Digest: "2"}, {Name: "c"}}
		changes <- []string{"/c.yaml"}
		did("run c", "idle")
		keys <- watch.KeyAll
		did("run a c", "idle")
		keys <- watch.KeyFilter
		did("run a", "idle")
		keys <- watch.KeyQuit
		Eventually(ended).Should(BeClosed())
	})
	It("ends with its context", func() {
		ctx, cancel := context.WithCancel(context.Background())
		s := &script{items: []watch.Item{{Name: "a"}}, did: make(chan string, 10)}
		ended := make(chan bool)
		session := watch.Session{Runner: s}
		go func() { defer close(ended); session.Loop(ctx, nil, nil) }()
		Eventually(s.did).Should(Receive(Equal("run a")))
		cancel()
		Eventually(ended).Should(BeClosed())
	})
})

var _ = Describe("Files", func() {
	var folder string
	var files *watch.Files
	BeforeEach(func() {
		folder = GinkgoT().TempDir()
		var err error
		files, err = watch.NewFiles()
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(files.Close)
		Expect(os.WriteFile(filepath.Join(folder, "a.yaml"), []byte("1"), 0o600)).To(Succeed())
		Expect(files.Add(folder)).To(Succeed())
		Expect(files.Add(filepath.Join(folder, "missing"))).To(Succeed())
	})
	path := func(name string) string { return filepath.Join(folder, filepath.FromSlash(name)) }
	DescribeTable("learn", func(name string, change func()) {
		change()
		Eventually(files.Events()).Should(Receive(Equal(path(name))))
	},
		Entry("of a written file", "a.yaml", func() { _ = os.WriteFile(path("a.yaml"), []byte("2"), 0o600) }),
		Entry("of a file that an editor replaces by another", "a.yaml", func() {
			_ = os.WriteFile(path(".a.yaml.tmp"), []byte("2"), 0o600)
			_ = os.Rename(path(".a.yaml.tmp"), path("a.yaml"))
		}),
		Entry("of a removed file", "a.yaml", func() { _ = os.Remove(path("a.yaml")) }),
		Entry("of a file in a new folder", "new/deep/b.yaml", func() {
			_ = os.MkdirAll(path("new/deep"), 0o700)
			_ = os.WriteFile(path("new/deep/b.yaml"), []byte("2"), 0o600)
		}),
	)
	It("learn nothing of hidden folders and of dependencies", func() {
		Expect(os.MkdirAll(path("node_modules/x"), 0o700)).To(Succeed())
		Expect(os.WriteFile(path("node_modules/x/a.js"), nil, 0o600)).To(Succeed())
		Expect(os.WriteFile(path("last.yaml"), nil, 0o600)).To(Succeed())
		Expect(<-files.Events()).To(Equal(path("last.yaml")))
	})
})
