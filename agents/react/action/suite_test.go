package action_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/fixtures"
)

func TestAction(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/react/action")
}

var _ = BeforeEach(func() {
	before := gleak.Goroutines()
	DeferCleanup(func() { Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before)) })
})

// workspace makes a folder with files: name, content, name, content …
func workspace(files ...string) string {
	GinkgoHelper()
	folder := GinkgoT().TempDir()
	for i := 0; i+1 < len(files); i += 2 {
		put(folder, files[i], files[i+1])
	}
	return folder
}

func put(folder, name, content string) {
	GinkgoHelper()
	path := filepath.Join(folder, filepath.FromSlash(name))
	Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
	Expect(os.WriteFile(path, []byte(content), 0o644)).To(Succeed())
}

// open makes the actions of an agent without its own.
func open(folder string, custom ...agentfile.Action) action.Set {
	GinkgoHelper()
	set, err := action.New(&agentfile.Agent{ID: "x", Actions: custom}, action.Options{Workspace: folder})
	Expect(err).NotTo(HaveOccurred())
	return set
}

// do does an action that is not to end early.
func do(set action.Set, id, input string) action.Result {
	GinkgoHelper()
	r, err := set.Do(context.Background(), id, input)
	Expect(err).NotTo(HaveOccurred())
	return r
}

// example copies the workspace of an example agent and makes its actions.
func example(name string) (action.Set, string) {
	GinkgoHelper()
	folder, err := fixtures.Agent(name)
	Expect(err).NotTo(HaveOccurred())
	data, err := fs.ReadFile(folder, name+".agent.md")
	Expect(err).NotTo(HaveOccurred())
	a, err := agentfile.Load(name, data)
	Expect(err).NotTo(HaveOccurred())
	files, err := fs.Sub(folder, "workspace")
	Expect(err).NotTo(HaveOccurred())
	to := GinkgoT().TempDir()
	Expect(os.CopyFS(to, files)).To(Succeed())
	set, err := action.New(a, action.Options{Workspace: to})
	Expect(err).NotTo(HaveOccurred())
	return set, to
}
