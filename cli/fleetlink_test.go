package cli

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/database"
)

// TestFleetSurvivesItsDatabase is H-04: connections that break, and a server that is away for a while, delay a
// run and change nothing; one that stays away ends it, with what there is.
func TestFleetSurvivesItsDatabase(t *testing.T) {
	f := newFleet(t)
	args := []string{"slow", "--trials", "80"}
	f.alone(exitPass, args...)
	link := newLink(f)
	direct := f.dsn
	f.dsn = link.address(direct)
	workers := []*process{f.worker(), f.worker()}
	run := f.run("spread", args...)
	f.dsn = direct
	logged := func(times int, message string) {
		for _, w := range workers {
			f.Eventually(func() int { return strings.Count(w.output.String(), message) }).WithTimeout(time.Minute).
				Should(gomega.Equal(times), message)
		}
	}
	for n := range 3 {
		f.done(20 * (n + 1))
		link.cut()
		logged(n+1, "the queue cannot be used")
		link.mend()
		logged(n+1, "the queue can be used again")
	}
	f.exits(run, exitPass)
	f.same("spread")
}

// link is a connection to the server that can be cut.
type link struct {
	t      *testing.T
	listen net.Listener
	server string
	mu     sync.Mutex
	broken bool
	conns  []net.Conn
}

func newLink(f *testFleet) *link {
	config, err := database.ParsePostgres(f.dsn)
	f.Expect(err).NotTo(gomega.HaveOccurred())
	l := &link{t: f.t, server: fmt.Sprintf("%s:%d", config.Host, config.Port)}
	l.listen, err = net.Listen("tcp", "127.0.0.1:0")
	f.Expect(err).NotTo(gomega.HaveOccurred())
	f.t.Cleanup(func() { _ = l.listen.Close(); l.cut() })
	go l.serve()
	return l
}

// address returns the address of a database by way of the link.
func (l *link) address(dsn string) string {
	return strings.Replace(dsn, l.server, l.listen.Addr().String(), 1)
}

func (l *link) serve() {
	for {
		client, err := l.listen.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		l.mu.Lock()
		server, err := net.Dial("tcp", l.server)
		if l.broken || err != nil {
			_ = client.Close()
			if err == nil {
				_ = server.Close()
			}
			l.mu.Unlock()
			continue
		}
		l.conns = append(l.conns, client, server)
		l.mu.Unlock()
		go pipe(client, server)
		go pipe(server, client)
	}
}

func pipe(to, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			_, _ = to.Write(buf[:n]) // the next read fails
		}
		if err != nil {
			_, _ = to.Close(), from.Close()
			return
		}
	}
}

func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = true
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns = nil
}

func (l *link) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = false
}

// TestFleetWaitsForRoom is H-04: a server that is read-only or full for a while delays a run and changes nothing.
// The run prints the reason.
func TestFleetWaitsForRoom(t *testing.T) {
	s := newServer(t)
	f := newFleetAt(t, s.address())
	args := []string{"slow", "--trials", "200"}
	f.alone(exitPass, args...)
	worker := f.worker()
	run := f.run("spread", args...)
	prints := func(p *process, message string) {
		t.Helper()
		f.Eventually(p.output.String).WithTimeout(time.Minute).Should(gomega.ContainSubstring(message))
	}
	f.done(20)
	f.execute("ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
	prints(run, "the queue cannot be used, trying again: the server is read-only")
	prints(worker, "the server is read-only")
	f.execute("SET default_transaction_read_only = off", "ALTER SYSTEM RESET default_transaction_read_only", "SELECT pg_reload_conf()")
	prints(run, "the queue can be used again")

	f.done(60)
	f.execute("CREATE FUNCTION rehearse.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = 'disk_full'; END $$",
		"CREATE TRIGGER refuse BEFORE UPDATE ON rehearse.block FOR EACH ROW EXECUTE FUNCTION rehearse.refuse()")
	prints(run, "a result cannot be stored, trying again: the disk of the server is full")
	f.execute("DROP FUNCTION rehearse.refuse CASCADE")
	f.exits(run, exitPass)
	f.same("spread")
}

// execute runs statements in one session.
func (f *testFleet) execute(statements ...string) {
	f.t.Helper()
	conn, err := pgx.Connect(f.t.Context(), f.dsn)
	f.Expect(err).NotTo(gomega.HaveOccurred())
	defer conn.Close(f.t.Context())
	for _, statement := range statements {
		_, err := conn.Exec(f.t.Context(), statement)
		f.Expect(err).NotTo(gomega.HaveOccurred(), statement)
	}
}
