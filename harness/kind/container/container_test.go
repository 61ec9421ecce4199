package container_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/harness/kind/container"
)

func anybody(netip.Addr) bool { return true }

// relay starts a relay to a target. It is closed after the spec, when no goroutine may be left.
func relay(target string, from func(netip.Addr) bool) (address string) {
	GinkgoHelper()
	before := gleak.Goroutines()
	port, closing, err := container.Listen("127.0.0.1", target, from)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		Expect(closing()).To(Succeed())
		Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before))
	})
	return net.JoinHostPort("127.0.0.1", port)
}

// serving calls f with each connection to an address.
func serving(f func(*net.TCPConn)) (address string) {
	GinkgoHelper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go f(conn.(*net.TCPConn))
		}
	}()
	return l.Addr().String()
}

func dial(address string) *net.TCPConn {
	GinkgoHelper()
	conn, err := net.Dial("tcp", address)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { _ = conn.Close() })
	return conn.(*net.TCPConn)
}

var _ = Describe("A relay", func() {
	It("forwards both directions, and the end of each", func() {
		address := relay(serving(func(c *net.TCPConn) {
			all, _ := io.ReadAll(c) // the request ends before the answer begins
			fmt.Fprintf(c, "heard %d bytes", len(all))
			_ = c.Close()
		}), anybody)
		for range 3 {
			c := dial(address)
			_, err := io.WriteString(c, strings.Repeat("x", 100_000))
			Expect(err).NotTo(HaveOccurred())
			Expect(c.CloseWrite()).To(Succeed())
			Expect(io.ReadAll(c)).To(BeEquivalentTo("heard 100000 bytes"))
		}
	})

	It("forwards a reset", func() {
		address := relay(serving(func(c *net.TCPConn) {
			_, _ = c.Read(make([]byte, 1))
			_ = c.SetLinger(0)
			_ = c.Close()
		}), anybody)
		c := dial(address)
		_, err := c.Write([]byte("x"))
		Expect(err).NotTo(HaveOccurred())
		_, err = io.ReadAll(c)
		Expect(err).To(MatchError(syscall.ECONNRESET))
	})

	It("forwards the disconnection of the client", func() {
		left := make(chan struct{})
		c := dial(relay(serving(func(c *net.TCPConn) {
			_, _ = io.Copy(io.Discard, c)
			close(left)
			_ = c.Close()
		}), anybody))
		Expect(c.Close()).To(Succeed())
		Eventually(left).Should(BeClosed())
	})

	It("closes connections from unknown addresses, and all if nothing listens at the target", func() {
		address := relay(serving(func(c *net.TCPConn) { fmt.Fprint(c, "hello"); _ = c.Close() }), func(a netip.Addr) bool { return !a.IsLoopback() })
		received, _ := io.ReadAll(dial(address))
		Expect(received).To(BeEmpty())

		l, err := net.Listen("tcp", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		nobody := l.Addr().String()
		Expect(l.Close()).To(Succeed())
		received, _ = io.ReadAll(dial(relay(nobody, anybody)))
		Expect(received).To(BeEmpty())
	})

	It("ends open connections when it is closed", func() {
		port, closing, err := container.Listen("127.0.0.1", serving(func(c *net.TCPConn) { _, _ = io.Copy(io.Discard, c) }), anybody)
		Expect(err).NotTo(HaveOccurred())
		c := dial("127.0.0.1:" + port)
		_, err = c.Write([]byte("x"))
		Expect(err).NotTo(HaveOccurred())
		Expect(closing()).To(Succeed())
		_, err = c.Read(make([]byte, 1))
		Expect(err).To(HaveOccurred())
	})
})

var _ = Describe("The variables of a container", func() {
	It("have addresses that are valid in the container, one for each of this machine", func() {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) }))
		DeferCleanup(server.Close)
		env, relays, closing, err := container.Environ("127.0.0.1",
			"OPENAI_BASE_URL="+server.URL+"/t/1/v1", "ANTHROPIC_BASE_URL="+server.URL+"/t/1", "HTTP_PROXY=http://127.0.0.1:1",
			"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1", "KEY=a=b", "EMPTY=")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(closing)
		Expect(relays).To(Equal(2), "the backend and the proxy")
		Expect(env).To(And(
			HaveKeyWithValue("KEY", "a=b"), HaveKeyWithValue("EMPTY", ""),
			HaveKeyWithValue("NO_PROXY", "127.0.0.1,localhost,127.0.0.1"), HaveKeyWithValue("no_proxy", "127.0.0.1,127.0.0.1")))
		Expect(env["OPENAI_BASE_URL"]).To(And(Equal(env["ANTHROPIC_BASE_URL"]+"/v1"), Not(ContainSubstring(server.URL))))
		Expect(env["HTTP_PROXY"]).NotTo(HaveSuffix(":1"))
		r, err := http.Get(env["OPENAI_BASE_URL"])
		Expect(err).NotTo(HaveOccurred())
		defer r.Body.Close()
		Expect(io.ReadAll(r.Body)).To(BeEquivalentTo("/t/1/v1"))
	})

	It("have the container's name of this machine", func() {
		env, _, closing, err := container.Environ("host.docker.internal", "OPENAI_BASE_URL=http://127.0.0.1:1/v1", "NO_PROXY=")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(closing)
		Expect(env["OPENAI_BASE_URL"]).To(MatchRegexp(`^http://host\.docker\.internal:[0-9]+/v1$`))
		Expect(env["NO_PROXY"]).To(Equal(",host.docker.internal"))
	})
})

var _ = Describe("The workspace of a container", func() {
	It("has the regular files of the folder with their permissions", func() {
		folder := GinkgoT().TempDir()
		Expect(os.MkdirAll(filepath.Join(folder, "a/b"), 0o700)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(folder, "a/b/run.sh"), []byte("#!"), 0o700)).To(Succeed()) //nolint:gosec // it is a program
		Expect(os.WriteFile(filepath.Join(folder, "note"), nil, 0o600)).To(Succeed())
		Expect(os.Symlink("/etc/passwd", filepath.Join(folder, "link"))).To(Succeed())
		Expect(container.Packed(folder)).To(Equal(map[string]int64{"/workspace/a/b/run.sh": 0o700, "/workspace/note": 0o600}))
		_, err := container.Packed(filepath.Join(folder, "gone"))
		Expect(err).To(MatchError(os.ErrNotExist))
	})
})

// archive returns a tar file with these entries; the Linkname of a regular file is its text.
func archive(entries ...tar.Header) io.Reader {
	GinkgoHelper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, head := range entries {
		text := ""
		if head.Typeflag == tar.TypeReg {
			text, head.Linkname = head.Linkname, ""
		}
		head.Size, head.Mode = int64(len(text)), 0o644
		Expect(w.WriteHeader(&head)).To(Succeed())
		Expect(io.WriteString(w, text)).To(Equal(len(text)))
	}
	Expect(w.Close()).To(Succeed())
	return &b
}

var _ = Describe("The files that are read back from the workspace of a container", func() {
	file := func(name, text string) tar.Header {
		return tar.Header{Typeflag: tar.TypeReg, Name: name, Linkname: text}
	}
	tree := func(folder string) map[string]string {
		GinkgoHelper()
		all := map[string]string{}
		Expect(filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				Expect(entry.Type().IsRegular()).To(BeTrue(), name)
				text, err := os.ReadFile(name)
				Expect(err).NotTo(HaveOccurred())
				rel, err := filepath.Rel(folder, name)
				Expect(err).NotTo(HaveOccurred())
				all[filepath.ToSlash(rel)] = string(text)
			}
			return err
		})).To(Succeed())
		return all
	}

	It("are the regular files, and hard links", func() {
		folder := GinkgoT().TempDir()
		Expect(container.Unpack(archive(
			tar.Header{Typeflag: tar.TypeDir, Name: "workspace/"}, tar.Header{Typeflag: tar.TypeDir, Name: "workspace/a"},
			file("workspace/a/b.txt", "text"), file("workspace/empty", ""), file("workspace/.git/config", "x"), file("workspace/a/node_modules/c/d", "x"),
			tar.Header{Typeflag: tar.TypeLink, Name: "workspace/same", Linkname: "workspace/a/b.txt"},
			tar.Header{Typeflag: tar.TypeSymlink, Name: "workspace/link", Linkname: "/etc/passwd"}, tar.Header{Typeflag: tar.TypeFifo, Name: "workspace/pipe"},
			tar.Header{Typeflag: tar.TypeChar, Name: "workspace/device"},
		), folder, 4, 8)).To(Succeed())
		Expect(tree(folder)).To(Equal(map[string]string{"a/b.txt": "text", "empty": "", "same": "text"}))
	})

	It("are none if the workspace is not a folder", func() {
		folder := GinkgoT().TempDir()
		Expect(container.Unpack(archive(tar.Header{Typeflag: tar.TypeSymlink, Name: "workspace", Linkname: "/etc"}), folder, 9, 9)).To(Succeed())
		Expect(tree(folder)).To(BeEmpty())
	})

	DescribeTable("do not leave the folder",
		func(entries ...tar.Header) {
			outside := GinkgoT().TempDir()
			folder := filepath.Join(outside, "in", "folder")
			Expect(os.MkdirAll(folder, 0o700)).To(Succeed())
			_ = container.Unpack(archive(entries...), folder, 9, 99) // it may fail
			for name := range tree(outside) {
				Expect(name).To(HavePrefix("in/folder/"))
			}
		},
		Entry("by dots", file("workspace/../../../pwn", "x")),
		Entry("by more dots", file("../../../workspace/../../pwn", "x")),
		Entry("as an absolute path", file("/workspace/../../pwn", "x")),
		Entry("below a link", tar.Header{Typeflag: tar.TypeSymlink, Name: "workspace/l", Linkname: "../.."}, file("workspace/l/pwn", "x")),
		Entry("as a hard link to a file outside", tar.Header{Typeflag: tar.TypeLink, Name: "workspace/l", Linkname: "workspace/../../../etc/passwd"}),
	)

	It("are limited", func() {
		three := func() io.Reader { return archive(file("w/a", "12345"), file("w/b", "12345"), file("w/c", "12345")) }
		Expect(container.Unpack(three(), GinkgoT().TempDir(), 3, 15)).To(Succeed())
		Expect(container.Unpack(three(), GinkgoT().TempDir(), 2, 15)).To(MatchError(ContainSubstring("more than")))
		Expect(container.Unpack(three(), GinkgoT().TempDir(), 3, 14)).To(MatchError(ContainSubstring("more than")))
		Expect(container.Unpack(strings.NewReader("cut off"), GinkgoT().TempDir(), 3, 14)).To(HaveOccurred())
	})

	It("replace the folder's earlier files, and links are removed and not followed", func() {
		folder, outside := GinkgoT().TempDir(), GinkgoT().TempDir()
		Expect(os.WriteFile(filepath.Join(outside, "kept"), nil, 0o600)).To(Succeed())
		Expect(os.MkdirAll(filepath.Join(folder, "a/b"), 0o700)).To(Succeed())
		Expect(os.Symlink(outside, filepath.Join(folder, "link"))).To(Succeed())
		Expect(container.Empty(folder)).To(Succeed())
		Expect(os.ReadDir(folder)).To(BeEmpty())
		Expect(tree(outside)).To(HaveLen(1))
	})
})

var _ = Describe("The context of a build", func() {
	It("is the folder without what .dockerignore excludes", func() {
		folder := GinkgoT().TempDir()
		Expect(os.MkdirAll(filepath.Join(folder, "src/deep"), 0o700)).To(Succeed())
		Expect(os.MkdirAll(filepath.Join(folder, "cache"), 0o700)).To(Succeed())
		for _, name := range []string{"Dockerfile", "main.go", "src/a.log", "src/deep/keep.log", "cache/x"} {
			Expect(os.WriteFile(filepath.Join(folder, name), nil, 0o600)).To(Succeed())
		}
		Expect(os.Symlink("main.go", filepath.Join(folder, "link"))).To(Succeed())
		Expect(os.WriteFile(filepath.Join(folder, ".dockerignore"), []byte("# caches\ncache\n**/*.log\n!src/deep/keep.log\nDockerfile\n"), 0o600)).To(Succeed())
		Expect(container.BuildContext(folder)).To(And(HaveLen(7), HaveKey("Dockerfile"), HaveKey(".dockerignore"),
			HaveKey("main.go"), HaveKey("link"), HaveKey("src"), HaveKey("src/deep"), HaveKey("src/deep/keep.log")))
	})

	It("needs a Dockerfile", func() {
		_, err := container.BuildContext(GinkgoT().TempDir())
		Expect(err).To(MatchError(os.ErrNotExist))
	})
})

var _ = DescribeTable("A container is rejected",
	func(o container.Options, why string) {
		_, err := container.New(o)
		Expect(err).To(MatchError(ContainSubstring(why)))
	},
	Entry("without an image", container.Options{Port: 80}, "either an image or the folder of a Dockerfile"),
	Entry("with an image and a Dockerfile", container.Options{Image: "a", Build: "b", Port: 80}, "either an image or the folder of a Dockerfile"),
	Entry("without a port", container.Options{Image: "a"}, "between 1 and 65535, got 0"),
	Entry("with a port that does not exist", container.Options{Image: "a", Port: 65536}, "got 65536"),
)
