package drive_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// BenchmarkCommandTrial measures a whole trial of one turn with one call of the demo agent, from the
// creation of its folders to the recording.
func BenchmarkCommandTrial(b *testing.B) {
	prices, err := price.Default()
	if err != nil {
		b.Fatal(err)
	}
	env := &drive.Env{Makers: kinds.All().Makers(), Prices: prices, Tokens: token.NewCounter(token.Options{})}
	defer func() { _ = env.Close() }()
	text := "name: bench/command\ndrive:\n" + demoCommand("", "")("") + "    turns: [What is it?]\nbackend:\n  model: gpt-4.1-mini\n  replies: [{text: It is this.}]\nexpect: {status: done}\n"
	sc, found := scenarios.Parse("bench.yaml", []byte(text), nil, scenarios.Options{Kinds: kinds.All().Formats()})
	if len(found) > 0 {
		b.Fatal(found)
	}
	d, err := drive.New(sc, env)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if t, _ := d.Trial(b.Context(), 1); t.End.Text != "It is this." {
			b.Fatal(t.End)
		}
	}
}

// BenchmarkFloorCommandTrial starts the same agent without the harness, with a server that always
// sends the same answer.
func BenchmarkFloorCommandTrial(b *testing.B) {
	answer, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"message": map[string]any{"content": "It is this."}}}})
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(answer)
	}))
	defer server.Close()
	path, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		home := b.TempDir()
		b.StartTimer()
		cmd := exec.Command(path)
		cmd.Env = append(os.Environ(), "REHEARSE_DEMO=command", "GORACE=atexit_sleep_ms=0", "HOME="+home, "OPENAI_BASE_URL="+server.URL+"/v1")
		cmd.Stdin = strings.NewReader("What is it?")
		if out, err := cmd.Output(); err != nil || string(out) != "It is this.\n" {
			b.Fatal(string(out), err)
		}
	}
}
