package cli

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/plot"
)

// detectView tells a person how far the items are: a line that is drawn over
// again on a terminal, and nothing elsewhere.
type detectView struct {
	out    io.Writer
	term   tty.Terminal
	now    func() time.Time
	failed int
	drawn  time.Time
	dirty  bool
}

func newDetectView(out io.Writer, term tty.Terminal, now func() time.Time) *detectView {
	return &detectView{out: out, term: term, now: now}
}

// item says that item number n has been judged.
func (v *detectView) item(n int, r detect.Result) {
	for _, answer := range r.Answers {
		if answer.Err != nil {
			v.failed++
		}
	}
	if !v.term.Live || v.now().Sub(v.drawn) < 100*time.Millisecond {
		return
	}
	v.drawn, v.dirty = v.now(), true
	line := format.Plural(n, "item")
	if v.failed > 0 {
		line += fmt.Sprintf(", %d failed", v.failed)
	}
	line = tty.Middle(line+"  "+sanitize.Line(r.Item.ID, console.MaxText), v.term.Columns()-1)
	fmt.Fprintf(v.out, "\r\x1b[K%s", line)
}

func (v *detectView) close() {
	if v.dirty {
		fmt.Fprint(v.out, "\r\x1b[K")
		v.dirty = false
	}
}

// showDetect prints the report where the user asked for it, and writes it to the
// folder if there is one.
func (a *app) showDetect(report reports.Detection, out *atomicdir.Folder, flags detectFlags) error {
	errors := flags.errors
	if errors == 0 {
		errors = -1
	}
	document := reports.DetectionDocument(byGroups(report, flags.by), errors)
	if flags.asJSON {
		if err := reports.JSON(a.stdout, report); err != nil {
			return err
		}
	} else if err := doc.Terminal(a.stdout, document, tty.Of(a.stdout, a.getenv)); err != nil {
		return err
	}
	if out == nil {
		return nil
	}
	if err := writeDetect(report, document, out); err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "%s, %s and pictures (SVG) are in %s\n", detectJSON, detectMarkdown, out.Path())
	return nil
}

func writeDetect(report reports.Detection, document doc.Document, out *atomicdir.Folder) error {
	data, err := out.Create(detectJSON)
	if err != nil {
		return err
	}
	if err := reports.JSON(data, report); err != nil {
		return atomicdir.Explain(err)
	}
	page, err := out.Create(detectMarkdown)
	if err != nil {
		return err
	}
	if err := doc.Markdown(page, document, 0); err != nil {
		return atomicdir.Explain(err)
	}
	files, err := drawDetect(report, out)
	if err != nil {
		return err
	}
	return out.Commit(append(files, data, page)...)
}

// drawDetect draws precision and recall, and the thresholds of each detector that
// says scores. Pictures of an earlier report that this one has not are removed.
func drawDetect(report reports.Detection, out *atomicdir.Folder) ([]*atomicdir.File, error) {
	var files []*atomicdir.File
	pictures := reports.DetectionPlots(report.Detectors)
	for i, name := range detectPictures {
		if i >= len(pictures) || pictures[i].SVG == nil {
			if err := out.Remove(name); err != nil {
				return nil, err
			}
			continue
		}
		file, err := out.Create(name)
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(plot.File(pictures[i])); err != nil {
			return nil, atomicdir.Explain(err)
		}
		files = append(files, file)
	}
	return files, nil
}

// byGroups is the report with those groups only.
func byGroups(report reports.Detection, by []string) reports.Detection {
	report.Detectors = slices.Clone(report.Detectors)
	for i := range report.Detectors {
		d := &report.Detectors[i]
		kept := d.Groups[:0:0]
		for _, g := range d.Groups {
			if slices.Contains(by, g.By) {
				kept = append(kept, g)
			}
		}
		d.Groups = kept
	}
	return report
}
