package console_test

import (
	"bytes"
	"os"
	"testing"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/internal/console"
)

func TestTTY(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "internal/tty")
}

var _ = DescribeTable("shortening in the middle",
	func(s string, width int, want string) {
		Expect(console.Middle(s, width)).To(Equal(want))
	},
	Entry("fits", "loop/done", 9, "loop/done"),
	Entry("keeps both ends", "loop/fault/missing-done", 12, "loop/…g-done"),
	Entry("wide characters count twice", "日本語日本語", 7, "日…本語"),
	Entry("too narrow for an ellipsis", "abc", 2, "ab"),
	Entry("no room", "abc", 0, ""),
)

var _ = Describe("the terminal", func() {
	none := func(string) string { return "" }

	It("is plain where it is not a file or not a terminal", func() {
		Expect(console.TerminalOf(&bytes.Buffer{}, none)).To(Equal(console.Terminal{}))
		f, err := os.Create(GinkgoT().TempDir() + "/out")
		Expect(err).NotTo(HaveOccurred())
		defer f.Close()
		Expect(console.TerminalOf(f, none)).To(Equal(console.Terminal{}))
	})
	It("paints only where colours are wanted", func() {
		Expect(console.Terminal{}.Paint(console.Red, "x")).To(Equal("x"))
		Expect(console.Terminal{Color: true}.Paint(console.Red, "x")).To(Equal("\x1b[31mx\x1b[0m"))
		Expect(console.Terminal{Color: true}.Paint(console.Red, "")).To(BeEmpty())
	})
	It("is 80 columns wide unless known, and never too narrow to draw in", func() {
		Expect(console.Terminal{}.Columns()).To(Equal(80))
		Expect(console.Terminal{Width: 7}.Columns()).To(Equal(40))
		Expect(console.Terminal{Width: 132}.Columns()).To(Equal(132))
	})
	It("aligns painted cells as it does plain ones", func() {
		paint := console.Terminal{Color: true}
		t := console.Table(2, 2)
		t.AppendHeader(table.Row{"name", "n"})
		t.AppendRow(table.Row{paint.Paint(console.Red, "a"), 10})
		t.AppendRow(table.Row{"bb", 1})
		Expect(t.Render()).To(Equal("name   n\n--------\n\x1b[31ma\x1b[0m     10\nbb     1"))
	})
})

var _ = It("never makes a name wider than asked", func() {
	rapid.Check(GinkgoT(), func(t *rapid.T) {
		s, width := rapid.String().Draw(t, "s"), rapid.IntRange(0, 30).Draw(t, "width")
		if out := console.Middle(s, width); console.Width(out) > width || !utf8.ValidString(out) {
			t.Fatalf("%q is %d wide, not %d", out, console.Width(out), width)
		}
	})
})
