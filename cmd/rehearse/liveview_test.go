package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/tty"
)

func TestLiveView(t *testing.T) {
	g := gomega.NewWithT(t)
	var out bytes.Buffer
	said := func() string { defer out.Reset(); return out.String() }
	v := newLiveViewOn(&out, tty.Terminal{Width: 40, Live: true})
	const wide = "a line that is wider than the forty columns there are"

	v.live(wide)
	g.Expect(said()).To(gomega.Equal("\r\x1b[K" + wide[:38] + "…"))
	v.live("again")
	g.Expect(said()).To(gomega.BeEmpty(), "ten times a second is enough")
	v.status.Draw("at once")
	g.Expect(said()).To(gomega.Equal("\r\x1b[Kat once"))
	v.print(wide)
	g.Expect(said()).To(gomega.Equal("\r\x1b[K"+wide[:38]+"…\n"), "what stays takes the place of the line under way")
	v.status.Pause(true)
	v.status.Draw("while somebody types")
	g.Expect(said()).To(gomega.BeEmpty())
	v.status.Pause(false)
	v.status.Draw("and after")
	v.status.Clear()
	g.Expect(said()).To(gomega.HaveSuffix("and after\r\x1b[K"))

	v = newLiveViewOn(&out, tty.Terminal{}) // a file
	v.live("never")
	v.print(strings.Repeat("x", 200))
	g.Expect(said()).To(gomega.Equal(strings.Repeat("x", 200) + "\n"))
}
