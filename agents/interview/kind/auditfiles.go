package kind

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/agents/interview/audit"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// AuditPage writes an audit as an HTML page.
func AuditPage(w io.Writer, result audit.Audit) error {
	return doc.HTML(w, AuditDocument(result), audit.Schema)
}

// WriteAudit writes the JSON and the page of an audit to a folder, both or none. several is true
// if the candidate has other sessions, whose audits must not be overwritten.
func WriteAudit(path string, result audit.Audit, several bool) (names []string, err error) {
	out, err := atomicdir.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	var files []*atomicdir.File
	for _, form := range []struct {
		extension string
		render    func(io.Writer, audit.Audit) error
	}{{".json", audit.JSON}, {".html", AuditPage}} {
		var b bytes.Buffer
		if err := form.render(&b, result); err != nil {
			return nil, err
		}
		name := audit.FileName(result.Session, several, form.extension)
		file, err := out.Create(name)
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(b.Bytes()); err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		files, names = append(files, file), append(names, filepath.Join(path, name))
	}
	return names, out.Commit(files...)
}
