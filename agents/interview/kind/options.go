package kind

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/web"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Options are the keys under drive.interview. A persona takes an interview: a client that calls
// the whole service over HTTP, in process, and carries out the moves of the scenario.
type Options struct {
	// Persona answers the questions.
	Persona string `yaml:"persona" json:"persona"`
	// Store of the session: "sqlite" (default; in memory), "file" (SQLite in a file) or
	// "postgres", which is skipped unless REHEARSE_TEST_POSTGRES is set.
	Store string `yaml:"store,omitempty" json:"store,omitempty" jsonschema:"enum=sqlite,enum=file,enum=postgres"`
	// Prompts replace shipped texts by name, such as "mirror" or "mirror/BLOC_01". Parts that
	// depend on the register are written [[informal|formal]].
	Prompts map[string]string `yaml:"prompts,omitempty" json:"prompts,omitempty"`
	// Job is the job of the interview, in the language of the persona; default the shipped one.
	Job *session.Job `yaml:"job,omitempty" json:"job,omitempty"`
	// CallTimeout limits a call to the model; default 1m.
	CallTimeout quantity.Duration `yaml:"call_timeout,omitempty" json:"call_timeout,omitempty"`
	// Backoff is the wait before the first retry of a failed call; default 1s.
	Backoff quantity.Duration `yaml:"backoff,omitempty" json:"backoff,omitempty"`
	// TransportRetries is the largest number of retries of a call that fails on the way; default 2.
	TransportRetries *int `yaml:"transport_retries,omitempty" json:"transport_retries,omitempty" jsonschema:"minimum=0"`
	// ValidationRetries is the largest number of retries after replies that are not valid; default 1.
	ValidationRetries *int `yaml:"validation_retries,omitempty" json:"validation_retries,omitempty" jsonschema:"minimum=0"`
	// HistoryMessages is the largest number of earlier messages in a call; default 40.
	HistoryMessages int `yaml:"history_messages,omitempty" json:"history_messages,omitempty" jsonschema:"minimum=1"`
	// HistoryTokens is the largest size of the earlier messages in a call, in tokens; default 7000.
	HistoryTokens int `yaml:"history_tokens,omitempty" json:"history_tokens,omitempty" jsonschema:"minimum=1"`
	// Address is the identification of submissions: an id of the client ("id"), the message that
	// it replies to ("reply_to"), both (default), or neither ("none").
	Address string `yaml:"address,omitempty" json:"address,omitempty" jsonschema:"enum=id,enum=reply_to,enum=both,enum=none"`
	// Pause is the time that the candidate takes before each answer; default 0.
	Pause quantity.Duration `yaml:"pause,omitempty" json:"pause,omitempty"`
	// Retries is the number of times that the client requests a failed message; default 0.
	Retries int `yaml:"retries,omitempty" json:"retries,omitempty" jsonschema:"minimum=0"`
	// CallsPerDay limits the calls of a day; default no limit. A client whose interview reaches the
	// limit carries out the moves at the owed message, and requests it.
	CallsPerDay int `yaml:"calls_per_day,omitempty" json:"calls_per_day,omitempty" jsonschema:"minimum=0"`
	// CostPerDay limits the cost of a day in EUR; default no limit.
	CostPerDay float64 `yaml:"cost_per_day,omitempty" json:"cost_per_day,omitempty" jsonschema:"minimum=0"`
	// Invite requires an invitation; the client has one that begins one interview of its candidate.
	Invite bool `yaml:"invite,omitempty" json:"invite,omitempty"`
	// Reload resumes the session before each answer.
	Reload bool `yaml:"reload,omitempty" json:"reload,omitempty"`
	// Stored is what the session must contain at the end, in addition to the answers.
	Stored Stored `yaml:"stored,omitempty" json:"stored,omitzero"`
	// Moves of the client in addition to the answers of the persona.
	Moves []Move `yaml:"moves,omitempty" json:"moves,omitempty"`
}

// Stored is how the service has understood the candidate; what is left out is not compared.
type Stored struct {
	// Register is how the candidate is addressed.
	Register session.Register `yaml:"register,omitempty" json:"register,omitempty" jsonschema:"enum=informal,enum=formal"`
	// Medium is what block 2 is about.
	Medium session.Medium `yaml:"medium,omitempty" json:"medium,omitempty" jsonschema:"enum=series,enum=film"`
	// Works are the titles as the service has read them, in order.
	Works []string `yaml:"works,omitempty" json:"works,omitempty"`
	// Core is the title of the most important work.
	Core string `yaml:"core,omitempty" json:"core,omitempty"`
}

// Move is an action of the client at a place of the interview, before the persona acts.
type Move struct {
	// At is the place of the shown message: "BLOC_01/0" (a question), "BLOC_01/mirror", a step
	// without questions, such as "STEP_03_PREAMBULE" or "STEP_99_MATCHING", or "BLOC_01/owed" while
	// the service owes a message. A move happens once.
	At string `yaml:"at" json:"at"`
	// Do is the action.
	Do string `yaml:"do" json:"do" jsonschema:"enum=say,enum=event,enum=reload,enum=double,enum=concurrent,enum=stale,enum=ahead,enum=restart,enum=crash,enum=unknown-session,enum=leave,enum=wait,enum=raise,enum=start,enum=link,enum=export,enum=delete"` //nolint:lll // a struct tag
	// Text is the message to send (say).
	Text string `yaml:"text,omitempty" json:"text,omitempty"`
	// Repeat is the number of repetitions of Text; default 1.
	Repeat int `yaml:"repeat,omitempty" json:"repeat,omitempty" jsonschema:"minimum=1,maximum=1000000"`
	// Event is the event to send (event).
	Event string `yaml:"event,omitempty" json:"event,omitempty"`
	// Instant of the crash (crash): "before-answer", "before-call", "after-call", "after-reply".
	Instant string `yaml:"instant,omitempty" json:"instant,omitempty" jsonschema:"enum=before-answer,enum=before-call,enum=after-call,enum=after-reply"` //nolint:lll // a struct tag
	// For is the time to wait (wait).
	For quantity.Duration `yaml:"for,omitempty" json:"for,omitempty"`
	// Want is the expected error code; empty if the move must be accepted. A refused move must
	// not change the stored session.
	Want string `yaml:"want,omitempty" json:"want,omitempty"`
}

// The values of Options.Address, in addition to both.
const (
	addressID      = "id"
	addressReplyTo = "reply_to"
	addressNone    = "none"
)

// The values of Move.Do.
const (
	// moveSay sends Text instead of the persona's answer. If Text is refused or is not an
	// answer, the persona's answer follows.
	moveSay = "say"
	// moveEvent sends Event.
	moveEvent = "event"
	// moveReload resumes the session.
	moveReload = "reload"
	// moveDouble sends the persona's answer twice, one after the other.
	moveDouble = "double"
	// moveConcurrent sends it twice at once.
	moveConcurrent = "concurrent"
	// moveStale sends an answer to the message before the one that is shown.
	moveStale = "stale"
	// moveAhead answers a message that has not been shown yet.
	moveAhead = "ahead"
	// moveRestart shuts the service down and starts it again.
	moveRestart = "restart"
	// moveCrash crashes the process at Instant of the persona's next answer and restarts it;
	// the client sends the answer again.
	moveCrash = "crash"
	// moveUnknown answers in a session that does not exist.
	moveUnknown = "unknown-session"
	// moveLeave leaves the interview.
	moveLeave = "leave"
	// moveStart begins another interview, with the same invitation.
	moveStart = "start"
	// moveWait waits before the next submission.
	moveWait = "wait"
	// moveRaise starts the service again, without the limits of a day.
	moveRaise = "raise"
	// moveLink continues by the personal link, in a browser without cookies.
	moveLink = "link"
	// moveExport exports the interview on its page; the export must have all accepted answers.
	moveExport = "export"
	// moveDelete deletes the interview on its page. Later submissions are refused with deleted_session.
	moveDelete = "delete"
)

// The instants of moveCrash.
const (
	beforeAnswer = "before-answer" // before the answer is stored
	beforeCall   = "before-call"   // after the answer is stored, before the call if there is one
	afterCall    = "after-call"    // after the call, before its outcome is stored
	afterReply   = "after-reply"   // after the outcome is stored, before the response
)

// The end statuses of an interview.
const (
	statusFinished = "finished" // the matching was shown
	statusFailed   = "failed"   // a message failed, and the client gave up
	statusLeft     = "left"     // the candidate left, by moveLeave
	statusError    = "error"    // the client could not continue
)

var placePattern = lazyregexp.New(`^[A-Z0-9_]+(/([0-9]+|mirror|owed))?$`)

func (o *Options) check(c *scenarios.Checker) {
	if names := Personas(); !slices.Contains(names, o.Persona) {
		c.Add("drive.interview.persona", suggest.Nearest(o.Persona, names),
			"unknown persona %q; known: %s", o.Persona, strings.Join(names, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Prompts)) {
		if err := prompt.Check(name, o.Prompts[name]); err != nil {
			nearest := ""
			if unknown, ok := errors.AsType[*prompt.UnknownError](err); ok {
				nearest = unknown.Nearest
			}
			c.Add(yamlsrc.Join("drive.interview.prompts", name), nearest, "%v", err)
		}
	}
	if o.Job != nil {
		o.Job.ID = cmp.Or(o.Job.ID, "own")
		for _, p := range prompt.JobProblems(o.Job) {
			c.Add("drive.interview.job."+p.Path, "", "%s", p.Message)
		}
		if p, err := LoadPersona(o.Persona); err == nil && o.Job.Language != p.Language {
			c.Add("drive.interview.job.language", string(p.Language), "the persona %s is interviewed in another language, %q", p.Name, p.Language)
		}
	}
	for i, m := range o.Moves {
		path := fmt.Sprintf("drive.interview.moves[%d]", i)
		step, _, _ := strings.Cut(m.At, "/")
		if !placePattern().MatchString(m.At) || !slices.Contains(session.Steps(), session.Step(step)) {
			c.Add(path+".at", "", `invalid place %q; write a step with a question, "mirror" or "owed", `+
				`such as BLOC_01/0 or BLOC_01/mirror, or a step alone, such as STEP_03_PREAMBULE`, m.At)
		}
		if codes := errorCodes(); m.Want != "" && !slices.Contains(codes, m.Want) {
			c.Add(path+".want", suggest.Nearest(m.Want, codes), "unknown error code %q; known: %s", m.Want, strings.Join(codes, ", "))
		}
		for _, needs := range []struct {
			what, do string
			given    bool
		}{
			{"text", moveSay, m.Text != ""},
			{"event", moveEvent, m.Event != ""},
			{"instant", moveCrash, m.Instant != ""},
			{"for", moveWait, m.For != 0},
		} {
			switch {
			case needs.given && m.Do != needs.do:
				c.Add(path+"."+needs.what, "", "%[2]s is only valid with do: %[1]s", needs.do, needs.what)
			case !needs.given && m.Do == needs.do && m.Do != moveSay: // the text of say may be empty
				c.Add(path+".do", "", "do: %s requires %s", needs.do, needs.what)
			}
		}
	}
}

// errorCodes returns the error codes of submissions over HTTP.
func errorCodes() []string {
	codes := web.Codes()
	for _, code := range interview.Codes() {
		codes = append(codes, string(code))
	}
	return codes
}

// addCast adds the replies of a persona after the rules of the file.
func addCast(c *scenarios.Checker, b *scenarios.Backend) {
	if b.Cast == "" {
		return
	}
	names := Personas()
	if !slices.Contains(names, b.Cast) {
		c.Add("backend.cast", suggest.Nearest(b.Cast, names), "unknown persona %q; known: %s", b.Cast, strings.Join(names, ", "))
		return
	}
	if len(b.Replies) > 0 {
		c.Add("backend.replies", "", "replies cannot be combined with cast; write rules instead")
		return
	}
	script, err := Replies(b.Cast)
	if err != nil {
		c.Add("backend.cast", "", "%v", err)
		return
	}
	for _, rule := range script.Rules {
		c.Digest([]byte(rule.Text.String() + rule.Template))
	}
	b.Rules = append(b.Rules, script.Rules...)
}
