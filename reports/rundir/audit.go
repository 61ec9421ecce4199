package rundir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// WriteAudit writes the audit of a run to a folder as JSON and as a page, and returns the paths of the files. Different audits have
// different names, even those of runs with equal recordings.
func WriteAudit(folder string, a *reports.Audit) (names []string, err error) {
	out, err := atomicdir.Open(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }() // the files are committed
	var text bytes.Buffer
	if err := reports.AuditJSON(&text, a); err != nil {
		return nil, fmt.Errorf("encode the audit: %w", err)
	}
	sum := sha256.Sum256(text.Bytes())
	run := a.Report.Run
	name := "run_audit_" + fileSafe(run.ID, 40) + "-" + hex.EncodeToString(sum[:4])
	files, err := createFiles(out, []part{
		{name + ".json", writer(text.Bytes())},
		{name + ".html", func(w io.Writer) error { return doc.HTML(w, reports.AuditDocument(a), run.Tool) }},
	})
	if err != nil {
		return nil, err
	}
	return []string{filepath.Join(folder, name+".json"), filepath.Join(folder, name+".html")}, out.Commit(files...)
}

// fileSafe returns the letters and digits in the first bytes of an id, which a recording of unknown origin can choose.
func fileSafe(id string, most int) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, id[:min(len(id), most)])
}
