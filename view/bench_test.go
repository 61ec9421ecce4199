package view_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/reports/page"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
	"github.com/rehearse-dev/rehearse/view"
)

// The recording of the benchmarks has about 100 MB: 1,000 scenarios with two trials of 20 calls each.
const (
	benchScenarios = 1000
	benchTrials    = 2
	benchCalls     = 20
)

func benchScenario(i int) record.Scenario {
	return record.Scenario{
		Name: fmt.Sprintf("shop/order-%04d", i), Digest: "sha256:0", Agent: "loop", Backend: "openai", Trials: benchTrials,
		Expect: expect.Expect{Status: "done"},
	}
}

func benchTrial(i, n int) record.Trial {
	words := strings.Repeat("The order left the house at noon, and nobody has seen it since. ", 18)
	t := record.Trial{Head: record.TrialHead{Scenario: benchScenario(i).Name, N: n}, End: record.End{Status: "done", Text: words}}
	for c := range benchCalls {
		question, reply := fmt.Sprintf("m%d", 2*c+1), fmt.Sprintf("m%d", 2*c+2)
		t.Messages = append(t.Messages,
			record.Message{ID: question, Message: llm.Message{Role: llm.User, Content: fmt.Sprint(i, n, c, words)}},
			record.Message{ID: reply, Message: llm.Message{Role: llm.Assistant, Content: fmt.Sprint(c, n, i, words)}})
		t.Calls = append(t.Calls, record.Call{
			N: c + 1, Backend: "openai", Messages: []string{question}, Reply: reply, Usage: &llm.Usage{Input: 300, Output: 300, Source: llm.UsageCounted},
		})
	}
	return t
}

// made are the folders to remove at the end.
var made []string

func TestMain(m *testing.M) {
	code := m.Run()
	for _, folder := range made {
		_ = os.RemoveAll(folder)
	}
	os.Exit(code)
}

// large returns a folder with the recording, which is made once.
var large = sync.OnceValue(func() string {
	folder, err := os.MkdirTemp("", "rehearse-view-*")
	check(err)
	made = append(made, folder)
	file, err := os.Create(filepath.Join(folder, "recording.jsonl"))
	check(err)
	out := bufio.NewWriterSize(file, 1<<20)
	w, err := record.NewWriter(out, record.Run{ID: "large", Tool: "rehearse", Scenarios: benchScenarios, Trials: benchScenarios * benchTrials})
	check(err)
	for i := range benchScenarios {
		check(w.Scenario(benchScenario(i)))
		for n := range benchTrials {
			lines, err := record.Encode(benchTrial(i, n+1))
			check(err)
			check(w.Trial(lines))
		}
	}
	check(w.Close(record.Close{Trials: benchScenarios * benchTrials}))
	check(out.Flush())
	check(file.Close())
	return folder
})

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func benchServer() http.Handler {
	s, err := view.New(view.Options{Language: kinds.Language(), Token: token, Follow: []string{large()}})
	check(err)
	return s.Handler()
}

// open requests the page of a trial in the middle of the recording.
func open(b testing.TB, handler http.Handler) {
	b.Helper()
	r := httptest.NewRequest(http.MethodGet, view.LivePath(large())+"/s/"+url.PathEscape(benchScenario(benchScenarios/2).Name)+"/t/2", nil)
	r.Host = "127.0.0.1"
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Call 20") {
		b.Fatal(w.Code, w.Body.String()[:min(w.Body.Len(), 2000)])
	}
}

// BenchmarkFirstTrialPage opens the page of a trial of a recording of 100 MB that no page was opened of.
func BenchmarkFirstTrialPage(b *testing.B) {
	large()
	b.ReportAllocs()
	for b.Loop() {
		open(b, benchServer())
	}
}

// BenchmarkTrialPage opens it again.
func BenchmarkTrialPage(b *testing.B) {
	server := benchServer()
	open(b, server)
	b.ReportAllocs()
	for b.Loop() {
		open(b, server)
	}
}

// BenchmarkFloorFirstTrialPage reads the recording once.
func BenchmarkFloorFirstTrialPage(b *testing.B) {
	path := filepath.Join(large(), "recording.jsonl")
	for b.Loop() {
		file, err := os.Open(path)
		check(err)
		n, err := io.Copy(io.Discard, struct{ io.Reader }{file})
		check(err)
		check(file.Close())
		b.SetBytes(n)
	}
}

// BenchmarkFloorTrialPage renders the trial, without reading it.
func BenchmarkFloorTrialPage(b *testing.B) {
	s, t := benchScenario(benchScenarios/2), benchTrial(benchScenarios/2, 2)
	facts := measure.Trial(s, t, nil, kinds.Language().Extensions())
	b.ReportAllocs()
	for b.Loop() {
		_, err := page.Trial(&s, &t, &facts, nil)
		check(err)
	}
}
