package coding

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/kind/command"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// throughShell is the value of Config.Through for turns that are command lines of a shell.
const throughShell = "shell"

// shellTimeout is the default limit of a turn, in which rehearse may start the agent several times.
const shellTimeout = quantity.Duration(2 * time.Minute)

// commitDate is the date of all commits of a trial: the beginning of virtual time.
const commitDate = "2026-01-01T00:00:00Z"

// shell is a conversation whose turns are command lines, such as "rehearse loop 'Fix it.' -b claude". They
// find rehearse and the agent's program in PATH, and the agent finds the scripted backend by its settings.
type shell struct {
	*session
	env []string
	// failed describes the exit status of the last turn, if it was not 0.
	failed *app.Error
}

// newShell returns a conversation of command lines in the site of s, with the variables of launch.
func newShell(s *session, started launch, agent, rehearse program) (*shell, error) {
	bin := filepath.Join(s.site.Home, "bin")
	if err := os.MkdirAll(filepath.Join(bin, ".rehearse"), 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for the programs: %w", err)
	}
	// A process does not know its id before it is started, and a turn may have to kill it.
	self := filepath.Join(bin, ".rehearse", "rehearse")
	script := fmt.Sprintf("#!/bin/sh\nexport REHEARSE_PID=$$\nexec '%s' \"$@\"\n", self)
	err := errors.Join(
		os.Symlink(rehearse.path, self),
		os.Symlink(agent.path, filepath.Join(bin, s.agent.cfg.Agent)),
		os.WriteFile(filepath.Join(bin, "rehearse"), []byte(script), 0o700), //nolint:gosec // a program
	)
	if err != nil {
		return nil, fmt.Errorf("put the programs into PATH: %w", err)
	}
	path := bin + string(filepath.ListSeparator) + os.Getenv("PATH") //nolint:forbidigo // a program needs it
	own := []string{
		"PATH=" + path, "LANG=C.UTF-8", "TZ=UTC", "GORACE=atexit_sleep_ms=0",
		// Commits have the same ids in each trial, because agents read them.
		"GIT_AUTHOR_DATE=" + commitDate, "GIT_COMMITTER_DATE=" + commitDate,
	}
	return &shell{session: s, env: append(own, started.env...)}, nil
}

// Say implements app.Session. An exit status other than 0 is an attribute of the answer, because the next
// turn may continue what was interrupted; that of the last turn is the error of End.
func (s *shell) Say(ctx context.Context, text string) (app.Answer, error) {
	site := s.site
	log := &logNormalizer{to: site.Log, replace: replaceTimes}
	if site.Log != nil {
		site.Log = log
	}
	s.failed = nil
	out, err := command.Run(ctx, site, command.Program{Argv: []string{"sh", "-c", text}, Env: s.env}, "")
	log.flush()
	if stopErr := s.emitStops(text); stopErr != nil && err == nil {
		return app.Answer{}, app.Errorf(app.Unusable, "see what the stop guard did: %w", stopErr)
	}
	answer := app.Answer{Text: strings.TrimSpace(s.clean(string(out))), Attrs: map[string]any{"exit": 0}}
	failed, ok := errors.AsType[*app.Error](err)
	if ok {
		failed.Message = s.clean(failed.Message)
	}
	if ok && failed.Kind == app.Failed {
		s.failed, answer.Attrs["exit"], err = failed, failed.Code, nil
		if answer.Text == "" {
			answer.Text = failed.Message
		}
	}
	return answer, err
}

// End implements app.Session. It moves the transcripts and states of rehearse out of the workspace, as they
// differ from run to run.
func (s *shell) End(ctx context.Context) error {
	err := s.session.End(ctx)
	for _, folder := range []string{"rehearse-runs", ".rehearse"} {
		moving := os.Rename(filepath.Join(s.site.Folder, folder), filepath.Join(s.site.Home, folder))
		if moving != nil && !errors.Is(moving, os.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("move %s out of the workspace: %w", folder, moving))
		}
	}
	if err == nil && s.failed != nil {
		return s.failed
	}
	return err
}

// clean removes from a text what differs from run to run.
func (s *shell) clean(text string) string {
	return replaceTimes(newNormalizer(s.site).names.Replace(text))
}

var (
	// anyStamp matches the time in the name of a transcript.
	anyStamp = lazyregexp.New(`\b20\d{6}-\d{6}(\.\d{3})?\b`)
	// anyDuration matches a duration in a text, with the spaces that align it, and anyNanoseconds one in JSON.
	anyDuration    = lazyregexp.New(`[ \t]*\b(\d+(\.\d+)?(h|ms|m|s|µs|ns))+\b`)
	anyNanoseconds = lazyregexp.New(`"(\w+_ns)": ?\d+`)
)

// replaceTimes replaces the ids, dates and durations in the output of rehearse.
func replaceTimes(text string) string {
	text = anyStamp().ReplaceAllString(replaceIDs(text), "{date}")
	return anyNanoseconds().ReplaceAllString(anyDuration().ReplaceAllString(text, " {time}"), `"$1": 0`)
}
