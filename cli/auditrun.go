package cli

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"github.com/rehearse-dev/rehearse/cli/config"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/evidence"
	"github.com/rehearse-dev/rehearse/reports/rundir"
	"github.com/rehearse-dev/rehearse/reports/trace"
)

// runToAudit returns the recording that the argument of audit names; empty if it is not the path of a run.
func runToAudit(word string) string {
	if _, err := os.Stat(word); err != nil {
		return ""
	}
	recording, err := rundir.FindRecording(word)
	if err != nil {
		return ""
	}
	return recording
}

// auditRun audits a run: what was run, how and by whom, and whether its files are intact.
func (a *app) auditRun(ctx context.Context, recording string, flags auditFlags) error {
	signers, err := signersOf(flags.key)
	if err != nil {
		return err
	}
	rule, err := config.Requirements()
	if err != nil {
		return usage(err)
	}
	in, err := rundir.OpenRecording(ctx, recording, a.language)
	if err != nil {
		return recordingError(ctx, err)
	}
	defer in.Close()
	found, err := in.Audit(ctx, signers)
	if err != nil {
		return recordingError(ctx, err)
	}
	found.Commits = a.lastCommits(ctx, found.Origin.Commit, found.ChangedFiles())
	if rule.List != nil {
		found.Requirements = trace.Of(rule.List, reports.Proofs(found.Report))
	}
	files, err := rundir.WriteAudit(flags.out, &found)
	if err != nil {
		return noVerdict(err)
	}
	if flags.asJSON {
		err = reports.AuditJSON(a.stdout, &found)
	} else {
		err = doc.Terminal(a.stdout, reports.AuditDocument(&found), console.TerminalOf(a.stdout, a.getenv))
	}
	if err != nil {
		return noVerdict(fmt.Errorf("print the audit: %w", err))
	}
	for _, file := range files {
		fmt.Fprintln(a.stderr, "wrote", file)
	}
	if !found.Integrity.Intact {
		return quiet(exitFail)
	}
	return nil
}

// signersOf reads the file of --key; without one there are no signers.
func signersOf(path string) (evidence.Signers, error) {
	if path == "" {
		return nil, nil
	}
	signers, err := evidence.ReadSigners(path)
	if err != nil {
		return nil, usage(fmt.Errorf("--key: %w", err))
	}
	return signers, nil
}

// isCommit reports whether a text is the hash of a commit, and not an option of git.
func isCommit(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) >= 40
}

// maxCommits limits the files whose commits are looked up.
const maxCommits = 50

// lastCommits returns the last commits of files up to the commit of the run, according to git; files that git does not know there are
// left out.
func (a *app) lastCommits(ctx context.Context, until string, files []string) (list []reports.Commit) {
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	if !isCommit(until) {
		return nil // it is unknown what the files of the run were
	}
	for _, file := range files[:min(len(files), maxCommits)] {
		text, err := git(ctx, "log", "-1", "--date=short", "--format=%h%x00%ad%x00%an%x00%s", until, "--", file)
		if fields := strings.Split(strings.TrimSpace(text), "\x00"); err == nil && len(fields) == 4 {
			list = append(list, reports.Commit{File: file, Hash: fields[0], Date: fields[1], Author: fields[2], Subject: fields[3]})
		}
	}
	return list
}
