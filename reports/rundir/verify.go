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
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/evidence"
)

// Verification is what the files of a run prove.
type Verification struct {
	// Recording is the path of the recording, and Chain the result of its hash chain.
	Recording string
	Chain     record.Report
	// SHA256 is the hash of the recording's file, in hex.
	SHA256 string
	// Rewritten are those of Changed about the recording, the timings and the exploration: the results are then not those of the run.
	Rewritten []string
	// Changed names files that are not as they were when the run ended, as far as something beside the file tells.
	Changed []string
	// Signed is true if there is a statement with a signature. Key is the fingerprint of its key, which anybody can
	// write; Who is the signer if one of the given keys made the signature, and Problem why none did.
	Signed  bool
	Key     string
	Who     string
	Problem string
	// Statement is that of the run; nil without one.
	Statement *evidence.Statement
}

// Began returns when the run began, according to its statement; zero if it is unknown.
func (v *Verification) Began() time.Time {
	if v.Statement == nil {
		return time.Time{}
	}
	return v.Statement.Predicate.RunDetails.Metadata.StartedOn
}

// Intact reports whether nothing shows that a file was changed or is missing, or that a signature is wrong.
func (v *Verification) Intact() bool {
	return len(v.Chain.Problems) == 0 && len(v.Changed) == 0 && v.Problem == ""
}

// Integrity returns the verification for reports.
func (v *Verification) Integrity() reports.Integrity {
	i := reports.Integrity{
		Schema: reports.IntegritySchema, Recording: v.Recording, SHA256: v.SHA256,
		Intact: v.Intact(), Lines: v.Chain.Lines, LastHash: v.Chain.Hash,
		Problems: []string{}, Signed: v.Signed, Key: v.Key, SignedBy: v.Who,
	}
	add := func(text string) { i.Problems = append(i.Problems, sanitize.Line(text, 500)) }
	for _, p := range v.Chain.Problems {
		add(p.String())
	}
	if v.Chain.More > 0 {
		add("and " + format.Plural(v.Chain.More, "more altered line"))
	}
	for _, text := range v.Changed {
		add(text)
	}
	if v.Problem != "" {
		add("signature: " + v.Problem)
	}
	return i
}

// Verify checks the hash chain of a recording, the files beside it, and the signature of their statement. signers may be
// empty: then nobody checks who signed.
func Verify(ctx context.Context, path string, signers evidence.Signers) (v Verification, err error) {
	v.Recording = path
	file, err := os.Open(path)
	if err != nil {
		return v, fmt.Errorf("open the recording: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	if v.Chain, err = record.Verify(contextReader{ctx, io.TeeReader(file, sum)}); err != nil {
		return v, err
	}
	v.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if filepath.Base(path) != RecordingFile { // a copy, or one that broke off: the files beside it are of another run
		if len(signers) > 0 {
			v.Problem = "only the recording of a run that ended, with its files, can be signed"
		}
		return v, nil
	}
	folder := filepath.Dir(path)
	if err := v.checkNote(folder); err != nil {
		return v, err
	}
	v.checkExploration(folder)
	return v, v.checkStatement(folder, signers)
}

// checkExploration compares an exploration with the recording beside it, which has the golden path and the smallest run of
// each failure.
func (v *Verification) checkExploration(folder string) {
	x, err := ReadExploration(folder)
	if err != nil {
		v.contradiction("is damaged: " + err.Error())
	}
	if x == nil {
		return
	}
	heads, err := scenariosOf(filepath.Join(folder, RecordingFile))
	if err != nil {
		return // the problems of the chain show it
	}
	var missing string
	golden := false
	for i := range heads {
		h := &heads[i]
		golden = golden || h.Name == x.Scenario && h.Digest == x.Digest
		failed := func(c result.Cell) bool {
			return c.Outcome == result.Failed && (slices.Equal(c.Shrunk, h.Perturb) || slices.Equal(c.Perturb, h.Perturb))
		}
		if h.Name != x.Scenario && missing == "" && !slices.ContainsFunc(x.Cells, failed) {
			missing = h.Name
		}
	}
	switch {
	case !golden:
		v.contradiction("is of " + x.Scenario + " with another digest than in the recording, or of another run")
	case missing != "":
		v.contradiction("lacks the failure of " + missing + ", which the recording has")
	}
}

// contradiction adds what shows that an exploration is not that of the recording.
func (v *Verification) contradiction(text string) {
	text = ExplorationFile + " " + text
	v.Changed, v.Rewritten = append(v.Changed, text), append(v.Rewritten, text)
}

// checkNote compares the files with the results with the note beside them.
func (v *Verification) checkNote(folder string) error {
	note, _ := history.ReadNote(filepath.Join(folder, history.NoteFile))
	if note == nil {
		return nil // there is none, or a damaged one
	}
	if note.SHA256 != "" && v.SHA256 != note.SHA256 && len(v.Chain.Problems) == 0 { // which would show it
		v.change(RecordingFile, v.SHA256)
	}
	for _, file := range []struct{ name, want string }{{timingsFile, note.Timings}, {ExplorationFile, note.Exploration}} {
		if file.want == "" {
			continue
		}
		sum, err := sumFile(filepath.Join(folder, file.name))
		if err != nil {
			return err
		}
		if sum != file.want {
			v.change(file.name, sum)
		}
	}
	return nil
}

func (v *Verification) change(name, sum string) {
	text := name + " was changed after the run"
	if sum == "" {
		text = name + " was removed after the run"
	}
	if slices.Contains(v.Changed, text) {
		return
	}
	v.Changed = append(v.Changed, text)
	if name == RecordingFile || name == timingsFile || name == ExplorationFile {
		v.Rewritten = append(v.Rewritten, text)
	}
}

func (v *Verification) checkStatement(folder string, signers evidence.Signers) error {
	text, err := readEvidence(folder, StatementFile)
	if err != nil {
		return err
	}
	signature, err := readEvidence(folder, SignatureFile)
	if err != nil {
		return err
	}
	if text == nil || signature == nil {
		if len(signers) > 0 {
			v.Problem = "it is not signed; rehearse run --sign signs runs"
		}
		return nil
	}
	if problem := v.checkSignature(text, signature, signers); problem != nil {
		v.Problem = problem.Error()
	}
	if v.Statement == nil {
		return nil
	}
	return v.checkDigests(folder)
}

// checkSignature reads a statement and checks its signature. Its error is a problem of the evidence.
func (v *Verification) checkSignature(text, signature []byte, signers evidence.Signers) error {
	statement, err := evidence.Parse(text)
	if err != nil {
		return err
	}
	v.Signed, v.Statement = true, &statement
	if v.Key, err = evidence.Fingerprint(signature); err != nil || len(signers) == 0 {
		return err
	}
	v.Who, err = signers.Check(text, signature)
	return err
}

// checkDigests compares the files with the statement. A file that it does not have was added later.
func (v *Verification) checkDigests(folder string) error {
	signed := v.Statement.Digests()
	if signed[RecordingFile] == "" {
		v.Problem = "the statement is not about a recording"
	}
	found, err := sumFiles(folder)
	if err != nil {
		return err
	}
	for _, name := range covered {
		if found[name] == signed[name] {
			continue
		}
		if signed[name] == "" {
			v.Changed = append(v.Changed, name+" was added after the run was signed")
			continue
		}
		v.change(name, found[name])
	}
	return nil
}

// readEvidence reads a file of the evidence; nil without one.
func readEvidence(folder, name string) ([]byte, error) {
	path := filepath.Join(folder, name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return input.ReadFile("statement", path, maxStatement)
}
