//go:build darwin || linux

package tempdir_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/tempdir"
)

// ownerVariable makes this program the owner of a folder until it is killed.
const ownerVariable = "REHEARSE_TEMPDIR_OWNER"

func TestMain(m *testing.M) {
	if os.Getenv(ownerVariable) == "" {
		os.Exit(m.Run())
	}
	folder, err := tempdir.New("kept")
	fmt.Println(folder.Path, err)
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0) // without Remove
}

func TestTempdir(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "internal/tempdir")
}

var _ = Describe("a temporary folder", func() {
	var parent string
	BeforeEach(func() {
		parent = GinkgoT().TempDir()
		GinkgoT().Setenv("TMPDIR", parent)
	})
	create := func() *tempdir.Folder {
		GinkgoHelper()
		f, err := tempdir.New("kept")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { _ = f.Remove() })
		return f
	}
	// left returns a folder whose owner has ended.
	left := func(name string) string {
		GinkgoHelper()
		path := filepath.Join(parent, name)
		Expect(os.MkdirAll(filepath.Join(path, "deep"), 0o700)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(path, ".owner"), nil, 0o600)).To(Succeed())
		return path
	}

	It("is there until it is removed, and git ignores it", func() {
		f := create()
		Expect(filepath.Dir(f.Path)).To(Equal(parent))
		Expect(os.ReadFile(filepath.Join(f.Path, ".gitignore"))).To(Equal([]byte("*\n")))
		Expect(os.WriteFile(filepath.Join(f.Path, "file"), nil, 0o600)).To(Succeed())
		Expect(f.Remove()).To(Succeed())
		Expect(f.Remove()).To(Succeed())
		Expect(os.ReadDir(parent)).To(BeEmpty())
	})

	It("remains while its owner lives, and is removed after a kill", func() {
		self, err := os.Executable()
		Expect(err).NotTo(HaveOccurred())
		owner := exec.Command(self)
		owner.Env = append(os.Environ(), ownerVariable+"=1")
		in, err := owner.StdinPipe()
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { _ = in.Close() }) // Wait closes it, too
		out, err := owner.StdoutPipe()
		Expect(err).NotTo(HaveOccurred())
		Expect(owner.Start()).To(Succeed())
		line, err := bufio.NewReader(out).ReadString('\n')
		Expect(err).NotTo(HaveOccurred())
		path := strings.TrimSuffix(line, " <nil>\n")
		create()
		Expect(path).To(BeADirectory(), "it is in use")
		Expect(owner.Process.Kill()).To(Succeed())
		_ = owner.Wait()
		mine := create()
		Expect(path).NotTo(BeADirectory())
		create()
		Expect(mine.Path).To(BeADirectory(), "that of this process is in use, too")
	})

	It("removes nothing that is not the folder of an ended process of this user", func() {
		outside := left("outside")
		Expect(os.Symlink(outside, filepath.Join(parent, "kept-link"))).To(Succeed())
		others := []string{outside, left("kept"), left("keptother-1"), left("other-1")}
		unlocked := left("kept-unlocked")
		Expect(os.Remove(filepath.Join(unlocked, ".owner"))).To(Succeed())
		linked := left("kept-linked")
		Expect(os.Remove(filepath.Join(linked, ".owner"))).To(Succeed())
		Expect(os.Symlink(filepath.Join(outside, ".owner"), filepath.Join(linked, ".owner"))).To(Succeed())
		others = append(others, unlocked, linked)
		if os.Geteuid() == 0 {
			foreign := left("kept-foreign")
			Expect(os.Chown(foreign, 4711, 4711)).To(Succeed())
			file := left("kept-foreign-file")
			Expect(os.Chown(filepath.Join(file, ".owner"), 4711, 4711)).To(Succeed())
			others = append(others, foreign, file)
		}
		gone := left("kept-1")
		create()
		Expect(gone).NotTo(BeADirectory())
		for _, path := range others {
			Expect(path).To(BeADirectory())
		}
	})

	It("names the folder in which it cannot be created", func() {
		GinkgoT().Setenv("TMPDIR", filepath.Join(parent, "none"))
		_, err := tempdir.New("kept")
		Expect(err).To(MatchError(And(HavePrefix("make a temporary folder: "), ContainSubstring("TMPDIR"))))
	})
})
