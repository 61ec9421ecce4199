package scenarios_test

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

var _ = Describe("A snapshot", Label("H-02"), func() {
	with := func(snapshot string) string { return right + "  snapshot: " + snapshot + "\n" }

	It("is read from the scenario's folder", func() {
		folder(map[string]string{
			"s/a.yaml": with("{text: snapshots/a.snap, prompts: a.snap.md, ignore: ['\\d+']}"), "s/snapshots/a.snap": "one\r\ntwo\n",
		})
		set, found := scenarios.Load([]string{"s/a.yaml"}, scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(found).To(BeEmpty())
		s := set[0].Expect.Snapshot
		Expect(s.Stored).To(Equal(map[string]string{"text": "one\ntwo\n"}))
		Expect(s.Missing()).To(BeTrue())
		Expect(set[0].Where).To(HaveKey("expect.snapshot"))
	})

	DescribeTable("that cannot be used is reported with its line",
		func(snapshot, message string) {
			folder(map[string]string{
				"s/a.yaml": with(snapshot), "s/folder.snap/x": "", "s/binary.snap": "a\x00b", "s/latin.snap": "\xe9",
				"s/large.snap": strings.Repeat("x", scenarios.MaxSnapshot+1), "out.snap": "secret",
			})
			Expect(os.Symlink(filepath.Join("..", "out.snap"), "s/link.snap")).To(Succeed())
			_, found := load("s/a.yaml")
			Expect(found).To(HaveLen(1))
			Expect(found[0].Message).To(ContainSubstring(message))
			Expect(found[0].Line).To(BeNumerically(">", 1))
		},
		Entry("a folder", "folder.snap", "is a folder; name a file"),
		Entry("outside", "../out.snap", "stays in the scenario's folder"),
		Entry("absolute", "/tmp/out.snap", "stays in the scenario's folder"),
		Entry("a link to the outside", "link.snap", "path escapes from parent"),
		Entry("binary", "binary.snap", "is a binary file"),
		Entry("not UTF-8", "latin.snap", "is a binary file"),
		Entry("oversized", "large.snap", "has 1048577 bytes; at most 1048576 are allowed"),
		Entry("a name of another file", "agent.py", "must end in .snap"),
		Entry("a name of a scenario", "a.snap.yaml", "must end in .snap"),
		Entry("no name", "''", "a snapshot needs the name of a file"),
		Entry("nothing", "{ignore: [a]}", "a snapshot needs the name of a file"),
		Entry("a list", "[a.snap]", "found a list, not a snapshot"),
		Entry("one file for two", "{text: a.snap, tools: ./a.snap}", `"./a.snap" is already the file of text`),
		Entry("a pattern that is not one", "{text: a.snap, ignore: ['(']}", "the regular expression cannot be used"),
	)

	It("belongs to one scenario", func() {
		folder(map[string]string{"s/a.yaml": with("a.snap"), "s/b.yaml": strings.Replace(with("./a.snap"), "name: a/b", "name: c", 1)})
		_, found := load("s")
		Expect(found).To(HaveLen(1))
		Expect(found[0].Message).To(Equal(`the snapshot "./a.snap" is already used by s/a.yaml; each scenario needs its own`))
	})

	It("is obsolete if no scenario in its folder or above names it", func() {
		folder(map[string]string{
			"s/a.yaml": with("snapshots/a.snap"), "s/b.yaml": "{ not valid: snapshots/b.snap", "c.yaml": "s/snapshots/c.snap.md",
			"s/snapshots/a.snap": "", "s/snapshots/b.snap": "", "s/snapshots/c.snap.md": "", "s/snapshots/a.txt": "",
			"s/snapshots/old-a.snap": "", "s/snapshots/snap": "", "s/mine.snap": "", "other/x.snap": "",
		})
		set, found := scenarios.Load([]string{"s/a.yaml"}, scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(found).To(BeEmpty())
		Expect(scenarios.ObsoleteSnapshots(set)).To(Equal([]string{filepath.Join("s", "snapshots", "old-a.snap")}))
		here, err := os.Getwd()
		Expect(err).NotTo(HaveOccurred())
		set[0].File = filepath.Join(here, "s", "a.yaml")
		Expect(scenarios.ObsoleteSnapshots(set)).To(HaveLen(2), "outside of the current folder, only the scenario's own folder is read")
	})
})
