package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/reports"
	htmlpage "github.com/rehearse-dev/rehearse/reports/page"
)

// htmlFile is the page of a run, beside its recording.
const htmlFile = "report.html"

// runPageBytes bounds the page that a run writes: rendering all transcripts of a large
// run would add a third to its time. report --format html shows more.
const runPageBytes = 8_000_000

// reportHTML is the format of a page with all details. The exploration beside a
// recording is shown as well.
func reportHTML(w io.Writer, in recorded) (reports.Report, error) {
	p, err := newPage(htmlpage.Options{})
	if err != nil {
		return reports.Report{}, err
	}
	defer p.close()
	report, err := in.read(p.builder.Judge(in.judge))
	if err != nil {
		return report, err
	}
	p.scores = in.scores
	explored, err := readExploration(filepath.Dir(in.file.Name()))
	if err != nil {
		return report, err
	}
	if explored != nil {
		p.explored = []result.Exploration{*explored}
	}
	return report, p.write(w, report, in.options)
}

// runPage is a page that is rendered as a run goes on.
type runPage struct {
	builder  *htmlpage.Builder
	spool    *os.File
	explored []result.Exploration
	scores   *reports.Detection
}

func newRunPage() (*runPage, error) {
	return newPage(htmlpage.Options{MaxBytes: runPageBytes, More: "rehearse report FOLDER --format html shows more."})
}

func newPage(opts htmlpage.Options) (*runPage, error) {
	spool, err := os.CreateTemp("", "rehearse-page-*")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file for the page: %w", err)
	}
	// Where a system lets go of a file that is open, a kill leaves nothing behind.
	_ = os.Remove(spool.Name())
	return &runPage{builder: htmlpage.New(spool, opts), spool: spool}, nil
}

// add adds a trial; there may be no page.
func (p *runPage) add(s *record.Scenario, j *harness.Judged) error {
	if p == nil {
		return nil
	}
	return p.builder.Trial(s, &j.Trial, &j.Facts, j.Findings)
}

// write is a renderer.
func (p *runPage) write(w io.Writer, r reports.Report, _ renderOptions) error {
	return p.builder.Write(w, htmlpage.Input{Report: r, Explored: p.explored, Detection: p.scores})
}

// maxScores bounds a file of scores.
const maxScores = 256 << 20

// readScores reads what detect wrote as JSON; nil if no file is named.
func readScores(name string) (*reports.Detection, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the scores: %w", err)
	}
	defer file.Close()
	var r reports.Detection
	dec := json.NewDecoder(io.LimitReader(file, maxScores))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		return nil, fmt.Errorf("read the scores %s: %w; name a file of rehearse detect --json", name, err)
	}
	if r.Schema != reports.DetectionSchema {
		return nil, fmt.Errorf("read the scores %s: the schema is %q and this program reads %q; run rehearse detect again", name, r.Schema, reports.DetectionSchema)
	}
	return &r, nil
}

func (p *runPage) close() {
	_ = p.spool.Close()
	_ = os.Remove(p.spool.Name()) // there may be none any more
}
