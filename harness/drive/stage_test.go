package drive_test

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/drive"
)

// tree has the initial files and links of a workspace.
type tree struct{ files, links map[string]string }

var _ = Describe("A workspace", func() {
	It("has files and links, which may lead anywhere", func() {
		folder := GinkgoT().TempDir()
		Expect(drive.Furnish(folder, map[string]string{"a/b.txt": "text", "c": ""}, map[string]string{"a/link": "/etc/passwd"})).To(Succeed())
		Expect(os.ReadFile(filepath.Join(folder, "a/b.txt"))).To(BeEquivalentTo("text"))
		Expect(os.Readlink(filepath.Join(folder, "a/link"))).To(Equal("/etc/passwd"))
	})

	// The scenario was not validated: a program created it, or it was changed afterwards.
	DescribeTable("is not left by a path",
		func(stage func(victim string) tree) {
			victim, folder := GinkgoT().TempDir(), GinkgoT().TempDir()
			s := stage(victim)
			for range 10 { // the iteration order of maps varies
				Expect(drive.Furnish(folder, s.files, s.links)).To(MatchError(ContainSubstring("on the stage: ")))
				Expect(os.ReadDir(victim)).To(BeEmpty())
				Expect(os.RemoveAll(folder)).To(Succeed())
				Expect(os.Mkdir(folder, 0o700)).To(Succeed())
			}
		},
		Entry("below a link", func(victim string) tree {
			return tree{links: map[string]string{"a": victim, "a/b/c/d": "/etc/passwd", "a/pwn": "/etc/hosts"}}
		}),
		Entry("below a link to a link", func(victim string) tree {
			return tree{links: map[string]string{"a": victim, "b": "a", "b/pwn": "/etc/hosts"}}
		}),
		Entry("with dots", func(victim string) tree {
			return tree{files: map[string]string{"x/../../" + filepath.Base(victim) + "/pwn": ""}}
		}),
		Entry("absolute", func(victim string) tree {
			return tree{links: map[string]string{filepath.Join(victim, "pwn"): "/etc/hosts"}}
		}),
	)
})
