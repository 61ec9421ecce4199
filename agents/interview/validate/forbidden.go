package validate

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/interview/validate/zones"
)

// zoneNames say the zones for a person.
var zoneNames = map[zones.Zone]string{
	zones.Origin:     "the person's origin",
	zones.Religion:   "religion",
	zones.Politics:   "political opinions",
	zones.Health:     "health",
	zones.Disability: "disability",
	zones.Sexuality:  "sexuality",
	zones.Union:      "unions",
	zones.Trauma:     "trauma",
	zones.Pathology:  "pathology",
}

// forbidden finds the zones that a text enters, whatever it is for. What stands in
// the title of a work is not the model's to leave out.
func (c *checker) forbidden() {
	hits := zones.Find(c.Text)
	if len(hits) == 0 {
		return
	}
	titles := c.works.spans(c.Text)
	count := map[zones.Zone]int{}
	for _, h := range hits {
		for len(titles) > 0 && titles[0].end < h.End {
			titles = titles[1:]
		}
		if len(titles) == 0 || titles[0].start > h.Start {
			count[h.Zone]++
		}
	}
	for _, zone := range zones.Zones() {
		if n := count[zone]; n > 0 {
			c.find(Finding{
				Rule: RuleForbiddenZone, Section: string(zone), Count: n,
				Message: fmt.Sprintf("the text touches on %s in %s; an interview leaves that alone",
					zoneNames[zone], plural(n, "place")),
			})
		}
	}
}
