package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/evidence"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

// signFlag adds --sign.
func signFlag(f *pflag.FlagSet, path *string) {
	f.StringVar(path, "sign", "", "sign the run with this SSH `key`: a private key, or the public key of one in the SSH agent")
}

// beginSigning opens the key of --sign. A signed run has an origin even if the history is switched off.
func (a *app) beginSigning(ctx context.Context, path string, past *pastRun) (err error) {
	if path == "" {
		return nil
	}
	if past.key, err = evidence.OpenKey(path, a.getenv("SSH_AUTH_SOCK")); err != nil {
		return usage(fmt.Errorf("--sign: %w", err))
	}
	past.signed = a.beginOrigin(ctx, true, past.out, nil) // labels do not change what is signed
	return nil
}

// signRun signs the files of a run, if --sign asks for it.
func (a *app) signRun(past pastRun, out *atomicdir.Folder, run reports.Run) error {
	if past.key == nil {
		return nil
	}
	if err := rundir.Sign(out, run, past.signed(), toolVersions(), past.key); err != nil {
		return noVerdict(fmt.Errorf("the run is complete in %s, but it is not signed: %w", out.Path(), err))
	}
	fmt.Fprintf(a.stderr, "signed with %s: %s\n", past.key.Fingerprint(), rundir.StatementFile)
	return nil
}

// toolVersions returns the versions of this program, of Go and of the format of recordings, and the commit that it was
// built from, if that is known.
func toolVersions() map[string]string {
	versions := map[string]string{
		"rehearse": toolVersion(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH, "recording": record.Schema,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if name, ok := strings.CutPrefix(s.Key, "vcs."); ok && name != "time" && s.Key != "vcs" {
				versions[name] = s.Value // revision and modified
			}
		}
	}
	return versions
}

func (a *app) verify(ctx context.Context, path string, flags reportFlags) error {
	signers, err := signersOf(flags.key)
	if err != nil {
		return err
	}
	found, err := rundir.Verify(ctx, path, signers)
	if err != nil {
		return recordingError(ctx, err)
	}
	if flags.format == formatJSON {
		err = json.NewEncoder(a.stdout).Encode(found.Integrity())
	} else {
		err = printVerification(a.stdout, &found)
	}
	if err != nil {
		return noVerdict(err)
	}
	if !found.Intact() {
		return quiet(exitFail)
	}
	return nil
}

// notProven says what an intact chain does not prove.
const notProven = `This finds damage and single changes. It does not show who wrote the recording: whoever rewrites it can compute all
hashes anew. Compare the last hash with a copy that was kept elsewhere, or sign runs: rehearse run --sign KEY.`

func printVerification(w io.Writer, v *rundir.Verification) error {
	lines := v.Integrity().Problems
	switch {
	case v.Chain.Altered:
		lines = append(lines, v.Recording+" was altered after the run")
	case len(v.Chain.Problems) > 0:
		lines = append(lines, v.Recording+" has no end")
	default:
		word := "is intact"
		if !v.Intact() {
			word = "has an unbroken chain, but is not the proof of this run"
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s, last hash %s", v.Recording, word, format.Plural(v.Chain.Lines, "line"), v.Chain.Hash))
	}
	if text := proven(v); text != "" {
		lines = append(lines, text)
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// proven says what the signature proves, or what an intact recording without a signature does not prove.
func proven(v *rundir.Verification) string {
	switch {
	case !v.Signed && v.Intact():
		return notProven
	case !v.Signed:
		return ""
	case v.Who == "":
		return fmt.Sprintf("%s is signed with %s; --key PUB checks whose key that is", rundir.StatementFile, v.Key)
	}
	text := fmt.Sprintf("%s is signed by %s, for a run of %s", rundir.StatementFile, sanitize.Line(v.Who, 200), format.Time(v.Began()))
	if v.Intact() {
		text += fmt.Sprintf("; its %s are as they were signed", format.Plural(len(v.Statement.Subject), "file"))
	}
	return text
}

var errKeyWithoutVerify = errors.New("--key checks signatures; add --verify")
