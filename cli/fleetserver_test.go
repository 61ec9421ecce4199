package cli

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/onsi/gomega"
)

// server is a PostgreSQL server of a test's own, which the test may crash.
type server struct {
	g      *gomega.WithT
	bin    string // the folder of its programs
	dir    string // with its data and its socket
	runsAs *syscall.SysProcAttr
}

// newServer starts a server that ends with the test. It skips the test on a machine without the programs.
func newServer(t *testing.T) *server {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // Debian's are not on the PATH
	if path, pathErr := exec.LookPath("initdb"); pathErr == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		t.Skip("PostgreSQL is not installed: there is no initdb", err)
	}
	slices.Sort(found)
	g := gomega.NewWithT(t)
	dir, err := os.MkdirTemp("", "rehearse-pg") //nolint:usetesting // the path of a socket must be short
	g.Expect(err).NotTo(gomega.HaveOccurred())
	s := &server{g: g, bin: filepath.Dir(found[len(found)-1]), dir: dir}
	if os.Getuid() == 0 { // the server refuses to run as root
		s.runsAs = s.owner()
	}
	t.Cleanup(func() { g.Expect(os.RemoveAll(dir)).To(gomega.Succeed()) })
	s.do("initdb", "--pgdata", s.data(), "--username", "rehearse", "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync")
	s.start()
	t.Cleanup(func() { s.control("stop", "--mode", "immediate") })
	return s
}

// owner gives the folder to the user postgres, and returns what makes a process run as that user.
func (s *server) owner() *syscall.SysProcAttr {
	account, err := user.Lookup("postgres")
	s.g.Expect(err).NotTo(gomega.HaveOccurred())
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
	s.g.Expect(errors.Join(err, gidErr, os.Chown(s.dir, int(uid), int(gid)))).NotTo(gomega.HaveOccurred())
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

// address returns the address of its database.
func (s *server) address() string { return "postgres://rehearse@/postgres?host=" + s.dir }

func (s *server) start() {
	s.g.THelper()
	s.control("start", "--wait", "--log", filepath.Join(s.dir, "log"),
		"--options", "-c listen_addresses='' -c unix_socket_directories="+s.dir)
}

// crash ends the server as a loss of power would, and starts it again.
func (s *server) crash() {
	s.g.THelper()
	s.control("stop", "--mode", "immediate")
	s.start()
}

func (s *server) control(args ...string) {
	s.g.THelper()
	s.do("pg_ctl", append([]string{"--pgdata", s.data()}, args...)...)
}

func (s *server) do(program string, args ...string) {
	s.g.THelper()
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.Dir, cmd.SysProcAttr = s.dir, s.runsAs
	text, err := os.OpenFile(filepath.Join(s.dir, program+".txt"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	s.g.Expect(err).NotTo(gomega.HaveOccurred())
	cmd.Stdout, cmd.Stderr = text, text // a pipe would wait for the server, which inherits it
	err = errors.Join(cmd.Run(), text.Close())
	said, readErr := os.ReadFile(text.Name())
	s.g.Expect(errors.Join(err, readErr)).NotTo(gomega.HaveOccurred(), "%s: %s", program, said)
}
