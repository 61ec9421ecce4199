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
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
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

// Verification is what the files of a run prove.
type Verification struct {
	// Recording is the path of the recording, and Chain the result of its hash chain.
	Recording string
	Chain     record.Report
	// Rewritten names the recording or the timings if they are among Changed: the results are then not those of the run.
	Rewritten []string
	// Changed names files that are not as they were when the run ended, as far as something beside the recording
	// tells.
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
	if a.Exploration, err = r.exploration(a.Scenarios); err != nil {
		return a, err
	}
	found, err := Verify(ctx, r.file.Name(), signers)
	if s := found.Statement; s != nil && a.Origin.Began.IsZero() {
		a.Origin = s.Origin()
	}
	a.Integrity = found.Integrity()
	return a, err
}

// exploration returns the exploration beside the recording, of which the recording must have the golden path; nil without one.
func (r *Recording) exploration(heads []record.Scenario) (*result.Exploration, error) {
	x, err := ReadExploration(filepath.Dir(r.file.Name()))
	if x == nil || err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(heads, func(s record.Scenario) bool { return s.Name == x.Scenario && s.Digest == x.Digest }) {
		return nil, fmt.Errorf("%s is of %s (%s), which the recording does not have; explore again", ExplorationFile, x.Scenario, x.Digest)
	}
	return x, nil
}

// Integrity returns the verification for reports.
func (v *Verification) Integrity() reports.Integrity {
	i := reports.Integrity{
		Schema: reports.IntegritySchema, Recording: v.Recording, Intact: v.Intact(), Lines: v.Chain.Lines, LastHash: v.Chain.Hash,
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
	if v.Chain, err = record.Verify(contextReader{ctx, file}); err != nil {
		return v, err
	}
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
	return v, v.checkStatement(folder, signers)
}

// checkNote compares the recording and the timings with the note beside them.
func (v *Verification) checkNote(folder string) error {
	note, _ := history.ReadNote(filepath.Join(folder, history.NoteFile))
	if note == nil {
		return nil // there is none, or a damaged one
	}
	for name, want := range map[string]string{RecordingFile: note.SHA256, timingsFile: note.Timings} {
		sum, err := sumFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		torn := name == RecordingFile && len(v.Chain.Problems) > 0 // the chain tells
		if want != "" && sum != want && !torn {
			v.change(name, sum)
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
	if name == RecordingFile || name == timingsFile {
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
