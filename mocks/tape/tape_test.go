package tape_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/mocks/tape"
)

func TestTape(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "mocks/tape")
}

var day = time.Date(2026, 11, 22, 1, 2, 3, 4, time.UTC)

// exchanges draws one that is valid, with every member that it may have.
var exchanges = rapid.Custom(func(t *rapid.T) tape.Exchange {
	x := tape.Exchange{
		N: rapid.IntRange(1, 9).Draw(t, "n"), At: day, Protocol: "openai-chat", Path: "/chat/completions?beta=true",
	}
	if rapid.Bool().Draw(t, "lost") {
		x.Lost = "cut: " + rapid.String().Draw(t, "why")
		return x
	}
	x.Header = map[string]string{"Anthropic-Version": "2023-06-01"}
	x.Request = []byte(`{"a":"<&>` + "\u2028" + `"}`)
	x.Status, x.ContentType = 200, "text/event-stream"
	x.RetryAfter, x.First, x.Total = time.Second, 2*time.Second, 3*time.Second
	x.Redacted = map[string]int{"api-key": 2}
	for range rapid.IntRange(0, 3).Draw(t, "frames") {
		piece := rapid.SliceOf(rapid.Byte()).Draw(t, "piece")
		x.Body = append(x.Body, piece...)
		x.Frames = append(x.Frames, tape.Frame{Gap: time.Millisecond, Bytes: len(piece)})
	}
	return x
})

func header() []byte {
	GinkgoHelper()
	line, err := tape.AppendHeader(nil, tape.Header{Date: day, Version: "1.2", Upstream: "api.example.com", Frames: true, Unredacted: true})
	Expect(err).NotTo(HaveOccurred())
	return line
}

var _ = Describe("a tape", func() {
	It("reads as it was written, whole lines only, wherever a kill tears it", func() {
		head := header()
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			file, ends := append([]byte(nil), head...), []int{len(head)}
			var written []tape.Exchange
			for _, x := range rapid.SliceOfNDistinct(exchanges, 0, 4, func(x tape.Exchange) int { return x.N }).Draw(t, "exchanges") {
				var err error
				if file, err = tape.AppendExchange(file, x); err != nil {
					t.Fatal(err)
				}
				written, ends = append(written, x), append(ends, len(file))
			}
			torn := rapid.IntRange(len(head), len(file)).Draw(t, "torn")
			whole := 0
			for whole+1 < len(ends) && ends[whole+1] <= torn {
				whole++
			}
			got, err := tape.Read(iotest.OneByteReader(strings.NewReader(string(file[:torn]))))
			if err != nil || got.Whole != int64(ends[whole]) || len(got.Exchanges) != whole {
				t.Fatalf("%d of %d exchanges, %d bytes whole: %v", len(got.Exchanges), whole, got.Whole, err)
			}
			for i, x := range got.Exchanges {
				if fmt.Sprintf("%+v", x) != fmt.Sprintf("%+v", written[i]) {
					t.Fatalf("%+v became %+v", written[i], x)
				}
				if found, ok := got.Find(x.N); !ok || found.N != x.N {
					t.Fatalf("exchange %d is not found", x.N)
				}
			}
		})
	})

	It("counts on behind the highest number", func() {
		file := header()
		for _, n := range []int{7, 2} {
			var err error
			file, err = tape.AppendExchange(file, tape.Exchange{N: n, Protocol: "p", Lost: "x"})
			Expect(err).NotTo(HaveOccurred())
		}
		got, err := tape.Read(strings.NewReader(string(file)))
		Expect(err).NotTo(HaveOccurred())
		Expect(got.Next()).To(Equal(8))
		_, ok := got.Find(3)
		Expect(ok).To(BeFalse())
		Expect(got.Headers).To(Equal([]tape.Header{{Schema: "rehearse.capture/1", Date: day, Version: "1.2", Upstream: "api.example.com", Frames: true, Unredacted: true}}))
	})

	const lost = `{"type":"exchange","n":1,"protocol":"p","lost":"x"}` + "\n"
	DescribeTable("refuses an invalid file, and names the line",
		func(file, want string) {
			_, err := tape.Read(strings.NewReader(strings.ReplaceAll(file, "HEAD\n", string(header()))))
			Expect(err).To(MatchError(ContainSubstring(want)))
		},
		Entry("nothing", "", "does not begin with a header"),
		Entry("a torn header", `{"type":"capture"`, "does not begin with a header"),
		Entry("no header", lost, "line 1: the file does not begin with a header"),
		Entry("another version", `{"type":"capture","schema":"rehearse.capture/9"}`+"\n", `line 1: the capture's format is "rehearse.capture/9"; this program reads rehearse.capture/1`),
		Entry("no JSON", "HEAD\nnonsense\n"+lost, "line 2: not a line of a capture"),
		Entry("another kind of line", "HEAD\n{\"type\":\"x\"}\n", `line 2: unknown type of line "x"`),
		Entry("a number twice", "HEAD\n"+lost+lost, "line 3: exchange 1 exists twice"),
		Entry("no number", "HEAD\n"+strings.Replace(lost, `"n":1`, `"n":0`, 1), "at least 1, got 0"),
		Entry("no protocol", "HEAD\n"+strings.Replace(lost, `"p"`, `""`, 1), "exchange 1 has no protocol"),
		Entry("no status", "HEAD\n"+strings.Replace(lost, `"lost":"x"`, `"status":7`, 1), "has the status 7"),
		Entry("time that runs back", "HEAD\n"+strings.Replace(lost, `"lost":"x"`, `"status":200,"first_ns":-1`, 1), "a negative duration"),
		Entry("frames that are too long", "HEAD\n"+strings.Replace(lost, `"lost":"x"`, `"status":200,"body":"ab","frames":[{"gap_ns":0,"bytes":1},{"gap_ns":0,"bytes":2}]`, 1), "frame 1 has 2 bytes after 0s; 1 are left"),
		Entry("frames that are too short", "HEAD\n"+strings.Replace(lost, `"lost":"x"`, `"status":200,"body":"ab","frames":[{"gap_ns":0,"bytes":1}]`, 1), "1 bytes short"),
		Entry("a frame that runs back", "HEAD\n"+strings.Replace(lost, `"lost":"x"`, `"status":200,"body":"ab","frames":[{"gap_ns":0,"bytes":-1},{"gap_ns":0,"bytes":3}]`, 1), "frame 0 has -1 bytes"),
		Entry("a body of another kind", "HEAD\n"+strings.Replace(lost, `"lost":"x"`, `"status":200,"body":[1]`, 1), "line 2: "),
	)
})

func FuzzRead(f *testing.F) {
	f.Add("HEAD\n" + `{"type":"exchange","n":1,"protocol":"p","status":200,"body":{"base64":"/w=="},"frames":[{"gap_ns":1,"bytes":1}]}` + "\n{")
	f.Add(`{"type":"capture"}`)
	f.Fuzz(func(t *testing.T, file string) {
		head, err := tape.AppendHeader(nil, tape.Header{Date: day})
		if err != nil {
			t.Fatal(err)
		}
		got, err := tape.Read(strings.NewReader(strings.ReplaceAll(file, "HEAD\n", string(head))))
		if err != nil {
			return
		}
		for _, x := range got.Exchanges {
			if _, err := tape.AppendExchange(nil, x); err != nil {
				t.Fatalf("%+v was read, and cannot be written: %v", x, err)
			}
		}
	})
}
