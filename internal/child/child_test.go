package child_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/child"
)

func TestChild(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(30 * time.Second) // processes on a busy machine
	RunSpecs(t, "internal/child")
}

var _ = Describe("a tail", func() {
	It("keeps the end of what was written, in any pieces", func() {
		for _, size := range []int{1, 7, 5000, 20_000} {
			var t child.Tail
			text := strings.Repeat("é", 10_000) + "the end\n"
			for rest := text; rest != ""; {
				n, err := t.Write([]byte(rest[:min(size, len(rest))]))
				Expect(err).NotTo(HaveOccurred())
				rest = rest[n:]
			}
			Expect(t.String()).To(HaveSuffix("éthe end"))
			Expect(len(t.String())).To(BeNumerically("~", 4<<10, 8))
			Expect(utf8.ValidString(t.String())).To(BeTrue())
		}
	})
	It("of nothing is empty", func() { Expect((&child.Tail{}).String()).To(BeEmpty()) })
})
