package reports_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/reports"
)

// big is a trial of 25 calls with some 200 kB of text.
func big(n int) record.Trial {
	t := record.Trial{Head: record.TrialHead{Scenario: "loop/big", N: n}, End: record.End{Status: "done", Duration: time.Minute}}
	for i := range 25 {
		id := fmt.Sprintf("m%d", i+1)
		t.Messages = append(t.Messages, record.Message{ID: id, Message: llm.Message{Role: llm.Assistant, Content: strings.Repeat("The ledger shows it. ", 400)}})
		t.Calls = append(t.Calls, record.Call{N: i + 1, Messages: []string{}, Reply: id, Latency: time.Second, Usage: &llm.Usage{Input: 10, Output: 5}})
	}
	return t
}

// writeBig writes a recording of so many big trials.
func writeBig(w io.Writer, trials int) error {
	out, err := record.NewWriter(w, record.Run{ID: "big", Scenarios: 1, Trials: trials})
	if err != nil {
		return err
	}
	if err := out.Scenario(record.Scenario{Name: "loop/big", Trials: trials, Agent: "loop", Backend: "openai", Model: "gpt-4.1-mini"}); err != nil {
		return err
	}
	for n := 1; n <= trials; n++ {
		lines, err := record.Encode(big(n))
		if err == nil {
			err = out.Trial(lines)
		}
		if err != nil {
			return err
		}
	}
	return out.Close(record.Close{Trials: trials})
}

// live is the memory that is in use after garbage was collected.
func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

var _ = Describe("a recording that is larger than memory", Label("H-05"), func() {
	It("is reported with what a small one takes", func() {
		// peak is the most memory in use while a recording of so many trials is read.
		peak := func(trials int) uint64 {
			in, out := io.Pipe()
			go func() { _ = out.CloseWithError(writeBig(out, trials)) }()
			most, n := uint64(0), 0
			judge := reports.Rejudge(kinds.Language(), nil)
			builder, err := reports.FromRecording(in, kinds.Language().Extensions(), func(s record.Scenario, t record.Trial) (measure.Facts, []gate.Finding, error) {
				if n++; n%(trials/10) == 0 {
					most = max(most, live())
				}
				return judge(s, t)
			})
			Expect(err).NotTo(HaveOccurred())
			Expect(builder.Close().Totals.Trials.Pass).To(Equal(trials))
			return most
		}
		few, many := peak(20), peak(400) // 4 MB and 85 MB
		Expect(many).To(BeNumerically("<", few+2<<20))
	})
})

func BenchmarkFromRecording(b *testing.B) {
	data := recording(b)
	for b.Loop() {
		if _, err := reports.FromRecording(bytes.NewReader(data), kinds.Language().Extensions(), reports.Rejudge(kinds.Language(), nil)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFloorFromRecording takes the same bytes apart into lines.
func BenchmarkFloorFromRecording(b *testing.B) {
	data := recording(b)
	for b.Loop() {
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
		}
		if lines.Err() != nil {
			b.Fatal(lines.Err())
		}
	}
}

// recording is one of 100 trials, 21 MB.
func recording(b *testing.B) []byte {
	b.Helper()
	var out bytes.Buffer
	if err := writeBig(&out, 100); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(out.Len()))
	return out.Bytes()
}
