package jsonl_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/jsonl"
)

func TestJSONL(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "internal/jsonl")
}

// all reads everything; a line that is too long is shown as such.
func all(r io.Reader, limit int) (out []string, err error) {
	l := jsonl.NewReader(r, limit)
	for {
		line, err := l.Next()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case errors.Is(err, jsonl.ErrTooLong):
			out = append(out, "too long")
		case err != nil:
			return out, err
		default:
			out = append(out, string(line))
		}
		Expect(l.Line()).To(Equal(len(out)))
	}
}

var _ = DescribeTable("lines",
	func(in string, limit int, want ...string) {
		for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in))} {
			got, err := all(r, limit)
			Expect(err).NotTo(HaveOccurred())
			Expect(got).To(HaveExactElements(want))
		}
	},
	Entry("none", "", 10),
	Entry("with and without ending", "a\nb", 10, "a", "b"),
	Entry("blank ones", "\n\n\n", 10, "", "", ""),
	Entry("CR belongs to the line", "a\r\nb\rc\n\r", 10, "a\r", "b\rc", "\r"),
	Entry("as long as may be", "abc\nabc\nabc", 3, "abc", "abc", "abc"),
	Entry("too long, and the rest goes on", "abcd\nabcde\nx\nabcdefgh", 3, "too long", "too long", "x", "too long"),
	Entry("longer than the buffer", strings.Repeat("x", 70<<10)+"\ny", 70<<10, strings.Repeat("x", 70<<10), "y"),
	Entry("longer than the buffer and too long", strings.Repeat("x", 200<<10)+"\ny", 70<<10, "too long", "y"),
	Entry("longer than the buffer by one", strings.Repeat("x", 70<<10+1)+"\ny", 70<<10, "too long", "y"),
)

var _ = It("passes an error of the stream on", func() {
	broken := errors.New("broken")
	got, err := all(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), 10)
	Expect(err).To(MatchError(broken))
	Expect(got).To(Equal([]string{"a"}))
})
