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

// runPage is a page that is rendered trial by trial.
type runPage struct {
	builder *page.Builder
	spool   *os.File
}

func newPage() (*runPage, error) {
	spool, err := os.CreateTemp("", "rehearse-page-*")
	if err != nil {
		return nil, fmt.Errorf("create a temporary file for the page: %w", err)
	}
	_ = os.Remove(spool.Name()) // where the system removes open files, a kill leaves nothing behind
	return &runPage{builder: page.New(spool, page.Options{}), spool: spool}, nil
}

func (p *runPage) close() {
	if p != nil {
		_ = p.spool.Close()
		_ = os.Remove(p.spool.Name()) // it may have been removed before
	}
}

func (p *runPage) add(s *record.Scenario, j *harness.Judged) error {
	if p == nil {
		return nil
	}
	return p.builder.Trial(s, &j.Trial, &j.Facts, j.Findings)
}

func (p *runPage) write(w io.Writer, r reports.Report, explored *result.Exploration, scores *reports.Detection, from reports.Origin) error {
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
