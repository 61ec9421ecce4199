package drive_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/kind/function"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// oneTurn drives a Go function through one turn; keys are further keys of the scenario's
// backend.
func oneTurn(keys string, f func(ctx context.Context, site app.Site, text string) (string, error)) record.Trial {
	GinkgoHelper()
	env := newEnv()
	env.Makers["function"] = function.Kind(map[string]app.Maker{"one": func(site app.Site) func(context.Context, string) (string, error) {
		return func(ctx context.Context, text string) (string, error) { return f(ctx, site, text) }
	}}).New
	sc, found := scenarios.Parse("spec.yaml", []byte("name: spec/one\ndrive:\n  function:\n    name: one\n    turns: [Hello.]\n    files: {given.txt: here}\n"+
		"backend:\n  unpriced: true\n"+keys+"  rules: [{text: x, optional: true}]\nexpect: {status: done}\n"), nil, scenarios.Options{Kinds: kinds.All().Formats()})
	Expect(found).To(BeEmpty())
	d, err := drive.New(sc, env)
	Expect(err).NotTo(HaveOccurred())
	t, _ := d.Trial(context.Background(), 1)
	return t
}

// files returns the recorded texts of the workspace, by path.
func files(t record.Trial) map[string]string {
	all := map[string]string{}
	for _, e := range t.Events {
		if e.Name == "file" {
			all[e.Attrs["path"].(string)] = e.Detail
		}
	}
	return all
}

var _ = Describe("the workspace of a driven agent", func() {
	It("is recorded at the end in limited space, whatever the agent left there", func() {
		t := oneTurn("", func(_ context.Context, site app.Site, _ string) (string, error) {
			at := func(name string) string { return filepath.Join(site.Folder, name) }
			Expect(os.WriteFile(at("binary"), []byte("a\xff\x00b"), 0o600)).To(Succeed())
			Expect(os.WriteFile(at("long"), []byte(strings.Repeat("é", 3000)), 0o600)).To(Succeed())
			Expect(os.WriteFile(at("huge"), []byte("begin"), 0o600)).To(Succeed())
			Expect(os.Truncate(at("huge"), 1<<40)).To(Succeed())
			Expect(os.Symlink("/etc/hosts", at("link"))).To(Succeed())
			for _, name := range []string{".git", "node_modules", "src"} {
				Expect(os.MkdirAll(at(name), 0o700)).To(Succeed())
				Expect(os.WriteFile(filepath.Join(at(name), "x"), nil, 0o600)).To(Succeed())
			}
			Expect(os.MkdirAll(at("closed/inner"), 0o700)).To(Succeed())
			Expect(os.Chmod(at("closed"), 0)).To(Succeed())
			return "done", nil
		})
		Expect(t.End.HarnessError).To(BeEmpty())
		left := files(t)
		Expect(left).To(And(HaveLen(5), HaveKeyWithValue("given.txt", "here"), HaveKeyWithValue("binary", "a\x00b"), HaveKey("src/x")))
		Expect(left["long"]).To(Equal(strings.Repeat("é", 1000)))
		Expect(left["huge"]).To(HavePrefix("begin"))
		Expect(len(left["huge"])).To(BeNumerically("<=", 2000))
	})

	It("is recorded up to a limited number of files", func() {
		t := oneTurn("", func(_ context.Context, site app.Site, _ string) (string, error) {
			for n := range 250 {
				Expect(os.WriteFile(filepath.Join(site.Folder, fmt.Sprintf("%03d", n)), nil, 0o600)).To(Succeed())
			}
			return "done", nil
		})
		Expect(files(t)).To(HaveLen(200))
		Expect(t.Events[len(t.Events)-1].Detail).To(Equal("51 more files are not told of"))
	})

	It("is removed, with the home, even if the agent locked it", func() {
		var folder string
		t := oneTurn("", func(_ context.Context, site app.Site, _ string) (string, error) {
			folder = filepath.Dir(site.Folder)
			inner := filepath.Join(site.Home, "a", "b")
			Expect(os.MkdirAll(inner, 0o700)).To(Succeed())
			Expect(os.WriteFile(filepath.Join(inner, "c"), nil, 0)).To(Succeed())
			Expect(os.Chmod(inner, 0)).To(Succeed())
			Expect(os.Chmod(filepath.Dir(inner), 0)).To(Succeed())
			return "done", nil
		})
		Expect(t.End.HarnessError).To(BeEmpty())
		Expect(folder).NotTo(BeAnExistingFile())
	})
})

var _ = It("replaces what differs from trial to trial in all texts of the agent", func() {
	t := oneTurn("  as: socket\n", func(_ context.Context, site app.Site, _ string) (string, error) {
		site.Emit(event.Event{Kind: event.State, Name: "note", Detail: "at " + site.Folder, Attrs: map[string]any{"home": site.Home + "/x", "n": 1}})
		_, err := fmt.Fprintf(site.Log, "in %s\n", site.Folder)
		Expect(err).NotTo(HaveOccurred())
		return "", fmt.Errorf("no %s/v1 for %s; localhost:41234 and 127.0.0.1:8080", site.Backend, site.Home)
	})
	const want = "no {backend}/v1 for {home}; localhost:{port} and 127.0.0.1:8080"
	Expect(t.End.Details).To(HaveSuffix(want))
	events := map[string]record.Event{}
	for _, e := range t.Events {
		events[e.Name] = e
	}
	Expect(events["note"].Detail).To(Equal("at {workspace}"))
	Expect(events["note"].Attrs).To(Equal(map[string]any{"home": "{home}/x", "n": 1}))
	Expect(events["turn"].Attrs["error"]).To(HaveSuffix(want))
	Expect(events["turn"].Attrs["kind"]).To(Equal("failed"))
	Expect(events["log"].Detail).To(Equal("in {workspace}"))
})
