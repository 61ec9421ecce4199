package audit_test

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/interview/audit"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// elements returns the elements of a page, which must be well formed except for
// void elements such as <br>.
func elements(page string) (out []xml.StartElement, err error) {
	page = strings.Replace(page, "<!DOCTYPE html>", "", 1)
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if e, ok := token.(xml.StartElement); ok {
			out = append(out, e.Copy())
		}
	}
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

var _ = Describe("the page", Label("I-15"), func() {
	texts := options()
	texts.Texts = true

	It("equals the golden file", func() {
		golden.Expect("audit.html", []byte(render(audit.Of(troubled(), texts), asHTML)))
	})

	It("separates the candidate's time from the model's, and ends with the owed message", func() {
		i := begin().on(1)
		i.say() // the tone
		i.call(session.Rejected).Fault = "too-short"
		i.Session.Owed.Failed, i.Session.Owed.Limit = "session_limit", "cost"
		page := render(audit.Of(i.Data, options()), asHTML)
		cells := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, "|")
		cells = regexp.MustCompile(`\s*\|[|\s]*`).ReplaceAllString(cells, "|")
		_, cells, _ = strings.Cut(cells, "Calls and answers of each step")
		cells, _, _ = strings.Cut(cells, "|Retries and trimming|")
		Expect(cells).To(ContainSubstring("|the candidate thought and wrote|40s|for 2 answers|the model wrote|2.1s|"))
		Expect(cells).To(ContainSubstring("|Tone|tone|2026-11-21 09:00:20|0s|0|0s|2026-11-21 09:00:40|20s|"))
		Expect(cells).To(ContainSubstring("|Preamble|(owed)|–|0s|1|2.1s|–|–|call 1 rejected too-short; limit of cost reached"))
	})

	It("needs no network and no script, and has a title", func() {
		page := render(audit.Of(troubled(), texts), asHTML)
		all, err := elements(page)
		Expect(err).NotTo(HaveOccurred())
		charts, ids := 0, map[string]bool{}
		for _, e := range all {
			Expect(e.Name.Local).NotTo(BeElementOf("script", "link", "img", "iframe", "object", "form"))
			for _, a := range e.Attr {
				Expect(a.Name.Local).NotTo(HavePrefix("on"), e.Name.Local)
				Expect(a.Name.Local).NotTo(BeElementOf("src", "srcset"))
				if a.Name.Local == "href" {
					Expect(a.Value).To(HavePrefix("#"))
				}
			}
			switch e.Name.Local {
			case "th":
				Expect(attr(e, "scope")).To(BeElementOf("col", "row"))
			case "svg":
				if attr(e, "role") == "img" {
					charts++
				}
			}
			if id := attr(e, "id"); id != "" {
				Expect(ids[id]).To(BeFalse(), "id %s twice", id)
				ids[id] = true
			}
		}
		for _, e := range all {
			for id := range strings.FieldsSeq(attr(e, "aria-labelledby")) {
				Expect(ids[id]).To(BeTrue(), id)
			}
		}
		Expect(charts).To(Equal(3))
		Expect(strings.ReplaceAll(page, "http://www.w3.org/2000/svg", "")).NotTo(MatchRegexp(`url\(|@import|https?:`))
		Expect(page).To(ContainSubstring("light-dark("))
		Expect(page).To(ContainSubstring("@media print"))
	})

	It("shows hostile text as text", func() {
		const evil = "</td></table><script>alert(1)</script><img src=x onerror=alert(1)>\x00\u202e\x1b[31m{{.}}"
		d := troubled()
		d.Session.Candidate, d.Session.ID = evil, evil
		for i := range d.Messages {
			d.Messages[i].Text = evil
		}
		for i := range d.Calls {
			c := &d.Calls[i]
			c.Model, c.Prompt, c.Fault, c.Detail, c.Warnings = evil, evil, evil, evil, []string{evil}
		}
		page := render(audit.Of(d, texts), asHTML)
		Expect(page).NotTo(ContainSubstring("<script"))
		Expect(page).NotTo(ContainSubstring("<img"))
		Expect(page).NotTo(ContainSubstring("\x00"))
		Expect(page).NotTo(ContainSubstring("\u202e"))
		Expect(page).NotTo(ContainSubstring("\x1b"))
		Expect(page).To(ContainSubstring(`\x1b[31m{{.}}`), "shown, and neither obeyed nor expanded")
	})

	It("draws whatever happened, however long the pauses are", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			i := begin()
			slow := rapid.Bool().Draw(t, "slow") // more pauses than there is room for
			i.wait = func() time.Duration {
				if slow {
					return time.Hour
				}
				return time.Duration(rapid.Int64Range(0, int64(400*time.Hour)).Draw(t, "pause"))
			}
			i.on(rapid.IntRange(0, 60).Draw(t, "inputs"))
			for n := range i.Calls {
				i.Calls[n].Latency = time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "latency"))
				if rapid.Bool().Draw(t, "unknown") {
					i.Calls[n].Cost = nil
				}
				i.Calls[n].Outcome = rapid.SampledFrom([]session.Outcome{
					session.Accepted, session.Rejected, session.Broken, session.Lost, session.Begun,
				}).Draw(t, "outcome")
			}
			page := render(audit.Of(i.Data, options()), asHTML)
			Expect(page).NotTo(ContainSubstring("NaN"))
			Expect(strings.Count(page, "<svg ")).To(BeNumerically("<=", 3))
		})
	})
})
