package record_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
)

// BenchmarkWriteTrial measures the whole cost of recording a trial with one call.
func BenchmarkWriteTrial(b *testing.B) {
	w, err := record.NewWriter(io.Discard, record.Run{})
	if err != nil {
		b.Fatal(err)
	}
	t := sample(1)
	b.ReportAllocs()
	for b.Loop() {
		encoded, err := record.Encode(t)
		if err != nil {
			b.Fatal(err)
		}
		if err := w.Trial(encoded); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWriteTrialSerial measures the part that cannot run in parallel.
func BenchmarkWriteTrialSerial(b *testing.B) {
	w, err := record.NewWriter(io.Discard, record.Run{})
	if err != nil {
		b.Fatal(err)
	}
	encoded, err := record.Encode(sample(1))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Trial(encoded); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWriteTrialFloor hashes and copies the same bytes line by line.
func BenchmarkWriteTrialFloor(b *testing.B) {
	encoded, err := record.Encode(sample(1))
	if err != nil {
		b.Fatal(err)
	}
	var buf bytes.Buffer
	sha, sum := sha256.New(), make([]byte, 0, sha256.Size)
	for b.Loop() {
		buf.Reset()
		for line := range bytes.Lines(encoded) {
			sha.Reset()
			sha.Write(line)
			buf.Write(sha.Sum(sum))
			buf.Write(line)
		}
	}
}

// BenchmarkRead10000 reads a recording of 10,000 trials with one call each.
func BenchmarkRead10000(b *testing.B) {
	text := many(b, 10_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for e, err := range record.Read(strings.NewReader(text)) {
			if err != nil || e.Problem != nil {
				b.Fatal(err, e.Problem)
			}
			if e.Trial != nil {
				n++
			}
		}
		if n != 10_000 {
			b.Fatal(n)
		}
	}
}

// BenchmarkRead10000Floor splits the same text into lines and hashes them.
func BenchmarkRead10000Floor(b *testing.B) {
	text := []byte(many(b, 10_000))
	b.SetBytes(int64(len(text)))
	sha := sha256.New()
	for b.Loop() {
		for line := range bytes.Lines(text) {
			sha.Reset()
			sha.Write(line)
		}
	}
}

// BenchmarkVerify10000 verifies the chain of the same recording.
func BenchmarkVerify10000(b *testing.B) {
	text := many(b, 10_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if report, err := record.Verify(strings.NewReader(text)); err != nil || len(report.Problems) > 0 {
			b.Fatal(report, err)
		}
	}
}

func many(b *testing.B, n int) string {
	b.Helper()
	trials := make([]record.Trial, n)
	for i := range trials {
		trials[i] = sample(i + 1)
	}
	var buf bytes.Buffer
	if err := write(&buf, trials...); err != nil {
		b.Fatal(err)
	}
	return buf.String()
}

// BenchmarkCollect200 collects a conversation of 200 calls with 2 KB messages. Each call
// repeats all previous messages.
func BenchmarkCollect200(b *testing.B) {
	clk := clock.NewVirtual()
	messages := make([]llm.Message, 400)
	for i := range messages {
		messages[i] = llm.Message{Role: llm.User, Content: strings.Repeat(string(rune('a'+i%26)), 2000+i)}
	}
	backend := llm.BackendFunc(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: messages[len(req.Messages)].Content}, nil
	})
	b.ReportAllocs()
	for b.Loop() {
		c := record.NewCollector(record.CollectorOptions{Clock: clk})
		w := c.Wrap(backend)
		for i := range 200 {
			if _, err := w.Complete(b.Context(), llm.Request{Messages: messages[:2*i+1]}); err != nil {
				b.Fatal(err)
			}
		}
		c.Finish(record.End{}, record.Script{}, nil)
	}
}
