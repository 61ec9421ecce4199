package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rehearse-dev/rehearse/kinds"

	"github.com/onsi/gomega"
)

func TestDetectAsksAnEndpoint(t *testing.T) {
	g := gomega.NewWithT(t)
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		id := strings.Split(string(body), `"`)[3]
		fmt.Fprintf(w, `{"id":%q,"positive":%t}`, id, asked.Add(1) == 1)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "c.jsonl")
	g.Expect(os.WriteFile(file, []byte(`{"id":"a","text":"x","label":true}`+"\n"+`{"id":"b","text":"y","label":false}`), 0o600)).To(gomega.Succeed())
	t.Setenv("REHEARSE_OFFLINE", "1") // this machine is allowed all the same
	for _, spec := range []string{server.URL + "/detect", "http:" + server.URL + "/detect"} {
		asked.Store(0)
		var out, errs bytes.Buffer
		code := run(kinds.All(), []string{"detect", file, "-d", spec, "-w", "1", "--min", "f1=1"}, strings.NewReader(""), &out, &errs)
		g.Expect(code).To(gomega.Equal(exitPass), errs.String())
		g.Expect(out.String()).To(gomega.ContainSubstring(server.URL + "/detect on 2 items"))
	}
}

// messages is a corpus of n items. It measures the heap after each quarter.
type messages struct {
	n, at int
	rest  string
	heap  uint64
}

func (m *messages) Read(p []byte) (int, error) {
	if m.rest == "" {
		if m.at == m.n {
			return 0, io.EOF
		}
		if m.at++; m.at%(m.n/4) == 0 {
			var stats runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&stats)
			m.heap = max(m.heap, stats.HeapAlloc)
		}
		text, label := "The parser is done and its tests pass. "+fmt.Sprint(m.at), "clean"
		if m.at%3 == 0 {
			text, label = "The parser is done. Then comes the rest "+fmt.Sprint(m.at), "defers"
		}
		m.rest = fmt.Sprintf(`{"id":"%d","text":"%s","lang":"en","label":"%s","repo":"r%d","tags":["t%d"],"steps":["s"]}`+"\n",
			m.at, text, label, m.at, m.at)
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// TestDetectIsConstant scores two detectors on 100,000 items, each with its own
// repository and tag, and on 1,000.
func TestDetectIsConstant(t *testing.T) {
	g := gomega.NewWithT(t)
	heap := func(n int) int {
		in := &messages{n: n}
		var errs bytes.Buffer
		code := run(kinds.All(), []string{"detect", "-", "--against", "guard:strict", "--json"}, in, io.Discard, &errs)
		g.Expect(code).To(gomega.Equal(exitPass), errs.String())
		g.Expect(in.at).To(gomega.Equal(n))
		return int(in.heap)
	}
	small := heap(1_000)
	g.Expect(heap(100_000) - small).To(gomega.BeNumerically("<", 6<<20)) // some bytes for each id; 15 MB of corpus went by
}

func TestDetectCompletes(t *testing.T) {
	g := gomega.NewWithT(t)
	for flag, want := range map[string]string{
		"--detector": "reflection", "--against": "llm:openai", "--by": "repository", "--only": "confidence=high", "--min": "recall=", "--positive": "complacent",
	} {
		var out, errs bytes.Buffer
		g.Expect(run(kinds.All(), []string{"__complete", "detect", flag, ""}, strings.NewReader(""), &out, &errs)).To(gomega.Equal(exitPass))
		g.Expect(strings.Split(out.String(), "\n")).To(gomega.ContainElement(want), flag)
	}
	var out bytes.Buffer
	g.Expect(run(kinds.All(), []string{"__complete", "detect", ""}, strings.NewReader(""), &out, io.Discard)).To(gomega.Equal(exitPass))
	g.Expect(out.String()).To(gomega.HavePrefix("shipped\nreflections\n"))
}
