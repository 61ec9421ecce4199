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

// guarded is an agent with the stop guard as its hook.
type guarded struct {
	env    []string
	log    string
	policy stop.Policy
	seen   int      // entries of the log that were emitted
	left   []string // steps of the last refusal
}

// install writes the settings with which the program calls the guard: those of "rehearse
// guard --install", for the user. The environment lets another program than rehearse run as
// the guard.
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

// emitStops emits the stops that the guard judged in this turn, which answers the request. Its log has no text, only
// the hash of the judged message, from which the verdict is computed again.
func (s *session) emitStops(request string) error {
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
		s.site.Emit(s.guard.event(judged, request, s.messages))
	}
	return nil
}

// event returns the event of a stop that the guard judged, with the reason if one of the
// messages is the judged one.
func (g *guarded) event(judged hook.Judged, request string, messages []string) event.Event {
	i := slices.IndexFunc(messages, judged.Of)
	if i < 0 {
		return event.New(0, "", loggedStop{
			Allow: !judged.Blocked, Class: judged.Class, Policy: g.policy, Score: judged.Score,
			Forced: judged.Blocked, Outcome: judged.Outcome,
		})
	}
	v := stop.Judge(messages[i], stop.Options{Policy: g.policy, Request: request})
	j, executed := v.Judgement(), stop.Executed(g.left, messages[i])
	j.Allow, j.Forced, j.Outcome, j.Executed = !judged.Blocked, judged.Blocked, judged.Outcome, &executed
	g.left = v.Order().Steps
	return event.New(0, v.Reason, j)
}

// loggedStop is the event of a stop of which only the guard's log is known, not the message.
// It is read as a stop.Judgement.
type loggedStop struct {
	Allow   bool        `json:"allow"`
	Class   stop.Class  `json:"class"`
	Policy  stop.Policy `json:"policy"`
	Score   float64     `json:"score"`
	Forced  bool        `json:"forced"`
	Outcome string      `json:"outcome"`
}

// Event implements event.Payload.
func (loggedStop) Event() (event.Kind, string) { return stop.Judgement{}.Event() }
