package page

import (
	"cmp"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/plot"
)

// plots collects the data of the plots of all trials.
type plots struct {
	purposes map[string]*purpose
}

// purpose are the calls with one purpose.
type purpose struct {
	latencies sample
	eur       float64
	unknown   bool // eur is a lower bound
}

// maxPurposes limits the distinct purposes: an agent that invents purposes must not cost memory.
const maxPurposes = 100

func (p *plots) add(s *record.Scenario, t *record.Trial, facts *measure.Facts) {
	all := facts.Latency.All
	for i := range t.Calls {
		c := &t.Calls[i]
		of := p.of(cmp.Or(line(c.Purpose, 60), "unlabelled"))
		eur, why := measure.CallCost(s, c)
		of.eur += eur
		of.unknown = of.unknown || why != ""
		if len(all) == len(t.Calls) {
			of.latencies.add(all[i])
		}
	}
}

func (p *plots) of(name string) *purpose {
	if p.purposes == nil {
		p.purposes = map[string]*purpose{}
	}
	if p.purposes[name] == nil && len(p.purposes) >= maxPurposes {
		name = "others"
	}
	of := p.purposes[name]
	if of == nil {
		of = &purpose{}
		p.purposes[name] = of
	}
	return of
}

// blocks draws the plots; pass rates only for scenarios with several trials.
func (p *plots) blocks(r reports.Report) []doc.Block {
	if len(p.purposes) == 0 {
		return nil
	}
	var samples []plot.Sample
	var bars []plot.Bar
	for _, name := range slices.Sorted(maps.Keys(p.purposes)) {
		of := p.purposes[name]
		samples = append(samples, plot.Sample{Name: name, Seconds: of.latencies.values})
		bars = append(bars, plot.Bar{Name: name, Value: of.eur, Unknown: of.unknown})
	}
	list := []doc.Block{plot.Latency("Latency by purpose", samples)}
	if len(bars) > 1 {
		list = append(list, plot.Costs("Cost by purpose", "EUR", bars))
	}
	var rates []plot.Share
	for _, s := range r.Scenarios {
		if s.Trials.Total() > 1 && s.Trials.Pass < s.Trials.Total() {
			rates = append(rates, plot.Share{Name: s.Name, Value: s.PassRate})
		}
	}
	if len(rates) > 0 {
		list = append(list, plot.Shares("Pass rates of scenarios that did not always pass", rates))
	}
	return list
}

// sample thins out a stream of values: it keeps all of a few, then every second one, and so on.
type sample struct {
	values []float64
	every  int
	n      int
}

const maxSample = 4096

func (s *sample) add(v float64) {
	s.every = max(s.every, 1)
	if s.n++; (s.n-1)%s.every != 0 {
		return
	}
	if s.values = append(s.values, v); len(s.values) < maxSample {
		return
	}
	for i := range maxSample / 2 {
		s.values[i] = s.values[2*i]
	}
	s.values = s.values[:maxSample/2]
	s.every *= 2
}
