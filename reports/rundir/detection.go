package rundir

import (
	"io"

	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/plot"
)

// The files of the scores of detectors.
const (
	DetectionFile         = "detect.json"
	detectionMarkdownFile = "detect.md"
	detectionPageFile     = "detect.html"
)

// detectionPlots are the files of the plots: precision and recall, the reliability of scores, and
// the thresholds of a detector and of the one that it is compared with.
var detectionPlots = [...]string{"detect.svg", "reliability.svg", "thresholds.svg", "thresholds-against.svg"}

// ReadDetection reads the scores that rehearse detect --json writes.
func ReadDetection(path string) (*reports.Detection, error) {
	var r reports.Detection
	if err := readJSON("scores", path, &r, &r.Schema, reports.DetectionSchema, "write them again with rehearse detect --json"); err != nil {
		return nil, err
	}
	return &r, nil
}

// WriteDetection writes the scores of detectors, their document as Markdown and as a page, and
// plots. Plots of an earlier report are removed.
func WriteDetection(out *atomicdir.Folder, r reports.Detection, d doc.Document, from reports.Origin) error {
	d.Origin = from.Facts()
	parts := []part{
		{DetectionFile, func(w io.Writer) error { return reports.JSON(w, r) }},
		{detectionMarkdownFile, func(w io.Writer) error { return doc.Markdown(w, d, 0) }},
		{detectionPageFile, func(w io.Writer) error { return doc.HTML(w, d, r.Tool) }},
	}
	plots := reports.DetectionPlots(r.Detectors)
	for i, name := range detectionPlots {
		if i >= len(plots) || plots[i].SVG == nil {
			if err := out.Remove(name); err != nil {
				return err
			}
			continue
		}
		parts = append(parts, part{name, func(w io.Writer) error {
			_, err := w.Write(plot.File(plots[i]))
			return err
		}})
	}
	files, err := createFiles(out, parts)
	if err != nil {
		return atomicdir.Explain(err)
	}
	return out.Commit(files...)
}
