package scenarios_test

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// folder writes files into a new folder and makes it the current one.
func folder(files map[string]string) {
	GinkgoHelper()
	GinkgoT().Chdir(GinkgoT().TempDir())
	for name, text := range files {
		Expect(os.MkdirAll(filepath.Dir(name), 0o755)).To(Succeed())
		Expect(os.WriteFile(name, []byte(text), 0o644)).To(Succeed())
	}
}

func load(patterns ...string) ([]string, scenarios.Diagnostics) {
	set, found := scenarios.Load(patterns, scenarios.Options{Kinds: kinds.All().Formats(), CheckExpr: kinds.Language().Check})
	return namesOf(set), found
}

func namesOf(set []scenarios.Scenario) []string {
	var names []string
	for _, sc := range set {
		names = append(names, sc.Name)
	}
	return names
}

func named(name string) string { return change("name: a/b", "name: "+name) }

var _ = Describe("The shipped scenarios", func() {
	It("are all correct", func() {
		set, found := scenarios.Load([]string{"loop/*"}, scenarios.Options{Kinds: kinds.All().Formats(), CheckExpr: kinds.Language().Check})
		Expect(found.Error()).To(BeEmpty())
		Expect(len(set)).To(BeNumerically(">=", 30))
	})

	It("have the names of their files", func() {
		set, _ := scenarios.Load([]string{"*/*"}, scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(set).To(HaveLen(len(scenarios.Names())))
		for i, name := range scenarios.Names() {
			Expect(set[i].Name).To(Equal(name))
			Expect(set[i].File).To(Equal("shipped:" + name + ".yaml"))
		}
	})

	It("are the same when their folder is read, several files at the same time", func() {
		opts := scenarios.Options{Kinds: kinds.All().Formats(), CheckExpr: kinds.Language().Check}
		shipped, _ := scenarios.Load([]string{"shipped:*/*"}, opts)
		own, found := scenarios.Load([]string{"./all", "./coding-agents", "./interview", "./loop", "./persist", "./react", "./stop"}, opts)
		Expect(found).To(BeEmpty())
		Expect(own).To(HaveLen(len(shipped)))
		for i := range own {
			Expect(own[i].Digest).To(Equal(shipped[i].Digest), own[i].File)
		}
	})

	It("are selected by name", func() {
		Expect(load("loop/no-progress")).To(Equal([]string{"loop/no-progress"}))
	})
})

var _ = Describe("Load", func() {
	BeforeEach(func() {
		folder(map[string]string{
			"own/b.yaml":           named("b"),
			"own/deep/a.yml":       named("a"),
			"own/deep/notes.md":    "not a scenario",
			"own/.hidden/x.yaml":   "broken: [",
			"own/.x.yaml":          "broken: [",
			"empty/notes.md":       "nothing",
			"named/one.txt":        "One",
			"named/c.yaml":         strings.Replace(named("c"), "text: One", "file: one.txt", 1),
			"bad/1.yaml":           strings.Replace(named("d"), "status: done", "status: doen", 1),
			"bad/2.yaml":           strings.Replace(named("e"), "about:", "abuot:", 1),
			"twice/first.yaml":     "# a comment\n" + named("b"),
			"large/large.yaml":     strings.Repeat("#", yamlsrc.MaxBytes+1),
			"loop/no-progress/own": "a folder of the user's with the name of a shipped scenario",
		})
	})

	It("reads files and folders, sorted by name whatever the order of the patterns", func() {
		names, found := load("own", "named/c.yaml")
		Expect(found).To(BeEmpty())
		Expect(names).To(Equal([]string{"a", "b", "c"}))
		again, _ := load("named/c.yaml", "own")
		Expect(again).To(Equal(names))
	})

	It("reads once what several patterns select", func() {
		names, found := load("own", "./own/b.yaml", "own/../own/deep", "own")
		Expect(found).To(BeEmpty())
		Expect(names).To(Equal([]string{"a", "b"}))
	})

	It("names the file as the user did", func() {
		set, _ := scenarios.Load([]string{"./own/b.yaml"}, scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(set[0].File).To(Equal("own/b.yaml"))
	})

	It("prefers what is on disk to what is shipped", func() {
		_, found := load("loop/no-progress")
		Expect(found.Error()).To(Equal("loop/no-progress: the folder has no scenario; names of scenario files end in .yaml"))
	})

	It("reports what is wrong with all files at once", func() {
		_, found := load("bad")
		Expect(found).To(HaveLen(2))
		Expect(found[0].Error()).To(HavePrefix("bad/1.yaml:13:11: the loop never ends with status"))
		Expect(found[1].Error()).To(HavePrefix(`bad/2.yaml:2:1: unknown key "abuot"`))
	})

	It("refuses a name that is used twice, and names both places", func() {
		_, found := load("own", "twice")
		Expect(found.Error()).To(Equal(`twice/first.yaml:2:7: the name "b" is already used in own/b.yaml:1:7`))
	})

	DescribeTable("refuses a pattern that selects nothing",
		func(pattern, want string) {
			names, found := load(pattern)
			Expect(names).To(BeEmpty())
			Expect(found.Error()).To(Equal(want))
		},
		Entry("a shipped name with an error", "loop/no-progres", `loop/no-progres: no such file or folder, and no shipped scenario has that name (did you mean "loop/no-progress"?)`),
		Entry("a glob with an error", "lop/*", `lop/*: no such file or folder, and no shipped scenario has that name (did you mean "loop/*"?)`),
		Entry("nothing near", "nonsense", `nonsense: no such file or folder, and no shipped scenario has that name`),
		Entry("a malformed glob", "loop/[", `loop/[: no such file or folder, and no shipped scenario has that name (did you mean "loop/*"?)`),
		Entry("a file with an error", "own/bb.yaml", `own/bb.yaml: cannot be read: no such file or directory (did you mean "own/b.yaml"?)`),
		Entry("a folder without a scenario", "empty", `empty: the folder has no scenario; names of scenario files end in .yaml`),
		Entry("a file that is too large", "large/large.yaml", `large/large.yaml: the file has 1048577 bytes; at most 1048576 are allowed`),
		Entry("a device", "/dev/null", `/dev/null: is not a regular file`),
	)

	It("refuses to select without a pattern", func() {
		_, found := load()
		Expect(found).To(HaveLen(1))
	})

	It("leaves out symbolic links in a folder", func() {
		Expect(os.Symlink("b.yaml", "own/again.yaml")).To(Succeed())
		names, found := load("own")
		Expect(found).To(BeEmpty())
		Expect(names).To(Equal([]string{"a", "b"}))
	})

	It("does not follow a symbolic link out of the folder", func() {
		Expect(os.WriteFile("secret.txt", []byte("secret"), 0o600)).To(Succeed())
		Expect(os.Remove("named/one.txt")).To(Succeed())
		Expect(os.Symlink("../secret.txt", "named/one.txt")).To(Succeed())
		_, found := load("named")
		Expect(found.Error()).To(And(HavePrefix("named/c.yaml:10:14: "), ContainSubstring("escapes")))
	})
})
