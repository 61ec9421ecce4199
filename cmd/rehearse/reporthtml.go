package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/harness/survival"
	"github.com/rehearse-dev/rehearse/reports"
	htmlpage "github.com/rehearse-dev/rehearse/reports/page"
)

// htmlFile is the page of a run, beside its recording.
const htmlFile = "report.html"

// reportHTML is the format of a page with all details. The exploration beside a
// recording is shown as well.
func reportHTML(w io.Writer, in recorded) (reports.Report, error) {
	spool, remove, err := newSpool()
	if err != nil {
		return reports.Report{}, err
	}
	defer remove()
	b := htmlpage.New(spool, htmlpage.Options{})
	report, err := in.read(b.Judge(in.judge))
	if err != nil {
		return report, err
	}
	input := htmlpage.Input{Report: report}
	explored, err := readExploration(filepath.Dir(in.file.Name()))
	if err != nil {
		return report, err
	}
	if explored != nil {
		input.Explored = []survival.Result{*explored}
	}
	return report, b.Write(w, input)
}

// newSpool returns a temporary file, and what removes it.
func newSpool() (*os.File, func(), error) {
	file, err := os.CreateTemp("", "rehearse-page-*")
	if err != nil {
		return nil, nil, fmt.Errorf("make a temporary file for the page: %w", err)
	}
	return file, func() {
		_ = file.Close()
		_ = os.Remove(file.Name()) // nothing more can be done
	}, nil
}
