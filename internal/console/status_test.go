package console_test

import (
	"bytes"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/console"
)

var _ = Describe("a status line", func() {
	var out *bytes.Buffer
	var now time.Time
	clock := func() time.Time { return now }
	printed := func() string {
		defer out.Reset()
		return out.String()
	}
	say := func(text, detail string) func() (string, string) {
		return func() (string, string) { return text, detail }
	}
	BeforeEach(func() {
		out = &bytes.Buffer{}
		now = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	})

	It("is redrawn ten times a second at most, and makes room for lines that stay", func() {
		s := console.NewStatusLine(out, console.Terminal{Live: true, Width: 40}, clock)
		s.Update(say("1/2", "  a"))
		s.Update(say("2/2", "  b"))
		Expect(printed()).To(Equal("\r\x1b[K1/2  a"))
		s.Draw("at once")
		Expect(printed()).To(Equal("\r\x1b[Kat once"))
		now = now.Add(100 * time.Millisecond)
		s.Update(say(strings.Repeat("x", 50), ""))
		Expect(printed()).To(Equal("\r\x1b[K" + strings.Repeat("x", 38) + "…"))
		s.Print("done")
		Expect(printed()).To(Equal("\r\x1b[Kdone\n"))
		s.Update(say("next", ""))
		Expect(printed()).To(Equal("\r\x1b[Knext"), "nothing is there to be redrawn too often")
		s.Clear()
		s.Clear()
		Expect(printed()).To(Equal("\r\x1b[K"))
	})

	It("is not drawn while somebody types", func() {
		s := console.NewStatusLine(out, console.Terminal{Live: true}, clock)
		s.Draw("before")
		s.Pause(true)
		s.Draw("meanwhile")
		s.Update(say("meanwhile", ""))
		Expect(printed()).To(Equal("\r\x1b[Kbefore\r\x1b[K"))
		s.Pause(false)
		s.Draw("after")
		Expect(printed()).To(Equal("\r\x1b[Kafter"))
	})

	It("is a line every ten seconds in a log", func() {
		s := console.NewStatusLine(out, console.Terminal{}, clock)
		for range 25 {
			now = now.Add(time.Second)
			s.Update(say(now.Format("05"), "  detail"))
			s.Draw("never")
		}
		Expect(printed()).To(Equal("10\n20\n"))
	})
})
