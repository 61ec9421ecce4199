//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
)

// BenchmarkFiles runs 1,000 scenario files of one trial with one call each, in an empty folder: "new" without a history,
// "again" with that of an earlier run.
func BenchmarkFiles(b *testing.B) {
	meter, rehearse := newMeter(b), program(b, "../cmd/rehearse")
	one, err := os.ReadFile(trials(b, 1))
	if err != nil {
		b.Fatal(err)
	}
	folder := b.TempDir()
	for i := range 1000 {
		text := strings.Replace(string(one), "bench/single-call", fmt.Sprintf("bench/call-%04d", i), 1)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("call-%04d.yaml", i)), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("new", func(b *testing.B) {
		var own spent
		for b.Loop() {
			own = own.plus(meter.start(b, rehearse, "run", folder, "--out", "out"))
		}
		own.report(b)
	})
	b.Run("again", func(b *testing.B) {
		history := filepath.Join(b.TempDir(), "history.db")
		b.Setenv("REHEARSE_HISTORY", history)
		meter.start(b, rehearse, "run", folder, "--out", "out")
		if _, err := os.Stat(history); err != nil {
			b.Fatal(err)
		}
		var own spent
		for b.Loop() {
			own = own.plus(meter.start(b, rehearse, "run", folder, "--out", "out"))
		}
		own.report(b)
	})
}

// BenchmarkExplore explores all 1,895 runs of the golden path of an interview.
func BenchmarkExplore(b *testing.B) {
	meter, rehearse := newMeter(b), program(b, "../cmd/rehearse")
	args := []string{"explore", "interview/golden-lea", "--out", "out"}
	if testing.Short() { // only checks that it runs
		args = append(args, "--max-runs", "20")
	}
	var own spent
	for b.Loop() {
		own = own.plus(meter.start(b, rehearse, args...))
	}
	own.report(b)
}

// mockScript is the script of the mock server, and mockCall the request that it answers.
const (
	mockScript = `model: gpt-4.1-mini
rules:
  - when: {user: {contains: fix the failing test}}
    text: All tests pass now. DONE
`
	mockCall = `{"model":"gpt-4.1-mini","messages":[{"role":"user","content":"Please fix the failing test."}]}`
)

// bareServer is the floor: a server that decodes the request and sends the same answer.
const bareServer = `package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
)

const answer = ` + "`" + `ANSWER` + "`" + `

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(os.Stderr, "http://%s/v1\n", listener.Addr())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	server := &http.Server{Handler: http.HandlerFunc(answered)}
	context.AfterFunc(ctx, func() { server.Close() })
	server.Serve(listener)
}

func answered(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model    string
		Messages []struct{ Role, Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil || len(request.Messages) == 0 {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, answer)
}
`

// BenchmarkMock measures "rehearse mock" and a bare server in turn, each a process of its own, under 16 connections of this
// process, which shares the processors with them.
func BenchmarkMock(b *testing.B) {
	script := filepath.Join(b.TempDir(), "script.yaml")
	if err := os.WriteFile(script, []byte(mockScript), 0o600); err != nil {
		b.Fatal(err)
	}
	meter, rehearse := newMeter(b), program(b, "../cmd/rehearse")
	bare := ""
	var own, floor served
	for b.Loop() {
		s, answer := meter.serve(b, rehearse, "mock", "-q", script)
		own = own.plus(s)
		b.StopTimer()
		if bare == "" {
			source := filepath.Join(b.TempDir(), "bare.go")
			if err := os.WriteFile(source, []byte(strings.Replace(bareServer, "ANSWER", answer, 1)), 0o600); err != nil {
				b.Fatal(err)
			}
			bare = program(b, source)
		}
		s, _ = meter.serve(b, bare)
		floor = floor.plus(s)
		b.StartTimer()
	}
	own.report(b, "")
	floor.report(b, "floor-")
}

// served is what a server did under load.
type served struct {
	spent
	calls int
	busy  time.Duration // the time under load
}

func (s served) plus(t served) served {
	return served{s.spent.plus(t.spent), s.calls + t.calls, s.busy + t.busy}
}

func (s served) report(b *testing.B, prefix string) {
	b.ReportMetric(float64(s.calls)/s.busy.Seconds(), prefix+"calls/s")
	b.ReportMetric(s.cpu.Seconds()/float64(s.calls), prefix+"cpu-sec/call")
	b.ReportMetric(s.peak, prefix+"peak-MB")
}

// serve starts a server, which prints its address, calls it 60,000 times over 16 connections, and stops it. It also returns
// an answer.
func (m meter) serve(b *testing.B, name string, args ...string) (served, string) {
	b.Helper()
	cmd, usage := m.used(b, name, args...)
	out, err := cmd.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewReader(out)
	url := ""
	for !strings.HasPrefix(url, "http://") {
		line, err := lines.ReadString('\n')
		if err != nil {
			b.Fatalf("%s printed no address: %v", name, err)
		}
		_, url, _ = strings.Cut(line, "http://")
		url, _, _ = strings.Cut("http://"+url, "/v1")
	}
	go io.Copy(io.Discard, lines) // ends when the server does
	const connections = 16
	each := 60_000 / connections
	if testing.Short() { // only checks that it runs
		each = 10
	}
	begin := clock.Real().Now()
	answer := callAll(b, url+"/v1/chat/completions", connections, each)
	busy := clock.Real().Now().Sub(begin)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatalf("%s: %v", name, err)
	}
	return served{usage(), connections * each, busy}, answer
}

// callAll posts mockCall over connections and returns one of the answers.
func callAll(b *testing.B, url string, connections, each int) (answer string) {
	b.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}
	defer transport.CloseIdleConnections()
	call := func() (string, error) {
		request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader([]byte(mockCall)))
		if err != nil {
			return "", err
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			return "", err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if response.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s", response.Status, text)
		}
		return string(text), err
	}
	var all sync.WaitGroup
	problems := make([]error, connections)
	for i := range connections {
		all.Go(func() {
			for range each {
				if _, problems[i] = call(); problems[i] != nil {
					return
				}
			}
		})
	}
	all.Wait()
	for _, err := range problems {
		if err != nil {
			b.Fatal(err)
		}
	}
	answer, err := call()
	if err != nil {
		b.Fatal(err)
	}
	return answer
}
