package coding

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/app"
)

// stopVerdict is the name of the verdicts of a stop guard.
const stopVerdict = "stop"

// guarded is an agent with the stop guard as its hook.
type guarded struct {
	env    []string
	log    string
	policy stop.Policy
	seen   int      // stops of the log that were told
	left   []string // steps of the last refusal
}

// install writes the settings that make the program call the guard: those of "rehearse
// guard --install", for the user. The environment lets a program that is not rehearse
// itself play the guard.
func (a *Agent) install(site app.Site) (*guarded, error) {
	if os.Getenv(hook.Env) != "" { //nolint:forbidigo // set by a parent of this process
		// Each hook would drive an agent, which would start a hook.
		return nil, errors.New(
			"this process is itself a hook of a driven agent; " +
				"its program must call agents/stop/hook.Main (or harness.Main) before anything else in main or TestMain")
	}
	g := &guarded{log: filepath.Join(site.Home, "guard.jsonl"), policy: a.cfg.Guard}
	cfg := hook.Config{
		Host: hook.Host(a.cfg.Agent), Policy: a.cfg.Guard, State: filepath.Join(site.Home, "guard"), Log: g.log,
	}
	argv, env, err := cfg.Command(a.cfg.Executable)
	if err != nil {
		return nil, err
	}
	g.env = env
	settings, err := hook.Install(cfg.Host, argv[0], cfg)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(site.Home, filepath.FromSlash(settings.UserFile[len("~/"):]))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the settings: %w", err)
	}
	if err := os.WriteFile(file, settings.JSON, 0o600); err != nil {
		return nil, fmt.Errorf("write the settings: %w", err)
	}
	return g, nil
}

// tellStops tells of the stops that were judged in this turn. The log has no text; what
// was judged is the message of that hash, and the verdict a pure function of it.
func (s *session) tellStops() error {
	if s.guard == nil || s.site.Emit == nil {
		return nil
	}
	data, err := os.ReadFile(s.guard.log)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the guard's log: %w", err)
	}
	stops, err := hook.ReadLog(data)
	if err != nil {
		return err
	}
	for _, judged := range stops[min(s.guard.seen, len(stops)):] {
		s.guard.seen++
		reason, attrs := s.guard.verdict(judged, s.said)
		s.site.Emit(event.Event{Kind: event.Verdict, Name: stopVerdict, Detail: reason, Attrs: attrs})
	}
	return nil
}

// verdict is what the stop guard found, and why.
func (g *guarded) verdict(judged hook.Judged, said []string) (reason string, attrs map[string]any) {
	attrs = map[string]any{"class": string(judged.Class), "score": judged.Score, "policy": string(g.policy)}
	if i := slices.IndexFunc(said, judged.Of); i >= 0 {
		v := stop.Judge(said[i], stop.Options{Policy: g.policy})
		j, executed := v.Judgement(), stop.Executed(g.left, said[i])
		j.Executed = &executed
		reason, attrs = v.Reason, event.New(0, "", j).Attrs
		g.left = v.Order().Steps
	}
	attrs["allow"], attrs["forced"] = !judged.Blocked, judged.Blocked
	attrs["outcome"] = judged.Outcome
	return reason, attrs
}
