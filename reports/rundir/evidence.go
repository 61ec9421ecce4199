package rundir

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/evidence"
)

// The signed statement of a run.
const (
	StatementFile = "statement.json"
	SignatureFile = "statement.json.sig"
)

// maxStatement limits the size of a statement, which has a line for each file of each scenario.
const maxStatement = 64 << 20

// covered are the files that a statement covers if they exist.
var covered = []string{
	RecordingFile, timingsFile, comparisonFile, jsonFile, junitFile, markdownFile, htmlFile, ExplorationFile,
	explorationMarkdownFile, history.NoteFile,
}

// Sign writes the statement of a run whose files are committed, and its signature. version has the versions of the
// program's parts.
func Sign(out *atomicdir.Folder, run reports.Run, from reports.Origin, version map[string]string, key *evidence.Key) error {
	files, err := sumFiles(out.Path())
	if err != nil {
		return err
	}
	heads, err := scenariosOf(filepath.Join(out.Path(), RecordingFile))
	if err != nil {
		return err
	}
	statement := evidence.New(run, from, version, files, heads)
	text, err := statement.Encode()
	if err != nil {
		return err
	}
	signature, err := evidence.Sign(text, key)
	if err != nil {
		return err
	}
	written, err := createFiles(out, []part{{StatementFile, writer(text)}, {SignatureFile, writer(signature)}})
	if err != nil {
		return err
	}
	return out.Commit(written...)
}

func writer(text []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
}

// scenariosOf returns the heads of the scenarios of a recording.
func scenariosOf(recording string) ([]record.Scenario, error) {
	file, err := os.Open(recording)
	if err != nil {
		return nil, fmt.Errorf("open the recording: %w", err)
	}
	defer file.Close()
	var heads []record.Scenario
	for entry, err := range record.Read(file) {
		if err != nil {
			return nil, err
		}
		if entry.Scenario != nil {
			heads = append(heads, *entry.Scenario)
		}
	}
	return heads, nil
}

// sumFiles returns the hashes of the covered files of a folder.
func sumFiles(folder string) (map[string]string, error) {
	files := map[string]string{}
	for _, name := range covered {
		sum, err := sumFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		if sum != "" {
			files[name] = sum
		}
	}
	return files, nil
}

// sumFile returns the SHA-256 hash of a file in hex; empty without a file.
func sumFile(path string) (string, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("compute the hash of a file: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("compute the hash of %s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Audit returns what the recording and the files beside it prove; signers may be empty, as for Verify. The commits are
// left to the caller.
func (r *Recording) Audit(ctx context.Context, signers evidence.Signers) (a reports.Audit, err error) {
	a = reports.Audit{Schema: reports.AuditSchema, Origin: r.Origin()}
	if a.Report, err = r.Report(); err != nil {
		return a, err
	}
	if a.Scenarios, err = scenariosOf(r.file.Name()); err != nil {
		return a, err
	}
	if a.Exploration, err = ReadExploration(filepath.Dir(r.file.Name())); err != nil {
		return a, err
	}
	found, err := Verify(ctx, r.file.Name(), signers)
	if s := found.Statement; s != nil && a.Origin.Began.IsZero() {
		a.Origin = s.Origin()
	}
	a.Integrity = found.Integrity()
	return a, err
}
