package console

import (
	"bytes"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func TestView(t *testing.T) {
	g := gomega.NewWithT(t)
	var out bytes.Buffer
	written := func() string { defer out.Reset(); return out.String() }
	v := NewView(&out, Terminal{Width: 40, Live: true}, nil)
	const wide = "a line that is wider than the forty columns there are"

	v.Update(wide)
	g.Expect(written()).To(gomega.Equal("\r\x1b[K" + wide[:38] + "…"))
	v.Update("again")
	g.Expect(written()).To(gomega.BeEmpty(), "ten times a second is enough")
	v.Draw("at once")
	g.Expect(written()).To(gomega.Equal("\r\x1b[Kat once"))
	v.Print(wide)
	g.Expect(written()).To(gomega.Equal("\r\x1b[K"+wide[:38]+"…\n"), "what stays takes the place of the line under way")
	v.Pause(true)
	v.Draw("while somebody types")
	g.Expect(written()).To(gomega.BeEmpty())
	v.Pause(false)
	v.Draw("and after")
	v.Close()
	g.Expect(written()).To(gomega.HaveSuffix("and after\r\x1b[K"))

	v = NewView(&out, Terminal{}, nil) // a file
	v.Update("never")
	v.Print(strings.Repeat("x", 200))
	g.Expect(written()).To(gomega.Equal(strings.Repeat("x", 200) + "\n"))
}
