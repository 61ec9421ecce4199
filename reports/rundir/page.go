package rundir

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/page"
)

// runPage is a page that is rendered trial by trial, while the next trials run.
type runPage struct {
	builder *page.Builder
	spool   *os.File
	trials  chan pageTrial
	ended   chan error // the first error of the builder, when trials is closed
}

// pageTrial is a trial to render.
type pageTrial struct {
	scenario record.Scenario
	judged   harness.Judged
}

// waitingTrials is how many trials may wait for their rendering, which limits the memory that they use.
const waitingTrials = 16

func newPage() (*runPage, error) {
	spool, err := os.CreateTemp("", "rehearse-page-*")
	if err != nil {
		return nil, fmt.Errorf("create a temporary file for the page: %w", err)
	}
	_ = os.Remove(spool.Name()) // where the system removes open files, a kill leaves nothing behind
	p := &runPage{
		builder: page.New(spool, page.Options{}), spool: spool, trials: make(chan pageTrial, waitingTrials), ended: make(chan error, 1),
	}
	go p.render(p.trials)
	return p, nil
}

// render renders the trials until there are no more. The errors of the builder are those of its file, of which the first
// one is returned.
func (p *runPage) render(trials <-chan pageTrial) {
	var first error
	for t := range trials {
		if first == nil {
			first = p.builder.Trial(&t.scenario, &t.judged.Trial, &t.judged.Facts, t.judged.Findings)
		}
	}
	p.ended <- first
}

// finish waits until all trials are rendered.
func (p *runPage) finish() error {
	if p.trials == nil {
		return nil
	}
	close(p.trials)
	p.trials = nil
	return <-p.ended
}

func (p *runPage) close() {
	if p != nil {
		_ = p.finish()
		_ = p.spool.Close()
		_ = os.Remove(p.spool.Name()) // it may have been removed before
	}
}

func (p *runPage) add(s *record.Scenario, j *harness.Judged) {
	if p != nil {
		p.trials <- pageTrial{*s, *j}
	}
}

func (p *runPage) write(w io.Writer, r reports.Report, explored *result.Exploration, scores *reports.Detection, from reports.Origin) error {
	if err := p.finish(); err != nil {
		return err
	}
	in := page.Input{Report: r, Detection: scores, Origin: from}
	if explored != nil {
		in.Explored = []result.Exploration{*explored}
	}
	return p.builder.Write(w, in)
}

// WritePage writes the HTML page of the recording, with the exploration beside it and the scores
// of detectors, which may be nil.
func (r *Recording) WritePage(w io.Writer, scores *reports.Detection) (reports.Report, error) {
	p, err := newPage()
	if err != nil {
		return reports.Report{}, err
	}
	defer p.close()
	report, err := r.read(p.builder.Judge(r.judge))
	if err != nil {
		return report, err
	}
	explored, err := ReadExploration(filepath.Dir(r.file.Name()))
	if err != nil {
		return report, err
	}
	return report, p.write(w, report, explored, scores, OriginOf(r.file.Name()))
}
