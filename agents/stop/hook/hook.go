// Package hook is the stop guard as a hook of existing coding agents. It reads
// the JSON that a host sends when its agent wants to stop, judges the agent's
// last message, and answers in the host's contract: stop, or continue with these
// steps.
//
// It fails open: after any error (unreadable input, a missing transcript, a state
// folder that cannot be written, a bug) the agent may stop, and one line on standard
// error gives the reason. The process always ends with exit status 0, because hosts
// disagree on the meaning of the others.
//
// Between two stops of a session it stores counters and hashes in one small file, and each decision in a
// history of bounded size, without text of a message unless Config.LogText is set.
//
// The contracts are those of the hosts' documentation in autumn 2026; host.go
// names the source of each.
package hook

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Config configures the guard. The zero value has the defaults. Main reads it as JSON.
type Config struct {
	// Host is the agent that calls; by default it is recognised by its input.
	Host Host `json:"host,omitempty"`
	// Policy selects the messages that are refused as a stop; default: stop.Balanced.
	Policy stop.Policy `json:"policy,omitempty"`
	// Threshold is the probability from which a message is refused, in (0, 1]; 0 means the one
	// of Policy.
	Threshold float64 `json:"threshold,omitempty"`
	// Weights is a file of weights, as `rehearse detect --fit` writes it; default: those of this
	// version.
	Weights string `json:"weights,omitempty"`
	// Cap is how many stops in a row may be refused in one session, 1 to 100;
	// default: 3.
	Cap int `json:"cap,omitempty"`
	// State is the folder for the state of sessions; default:
	// rehearse/guard in the user's cache folder.
	State string `json:"state,omitempty"`
	// Shadow refuses nothing and counts what would have been refused.
	Shadow bool `json:"shadow,omitempty"`
	// Log is a file that gets a line of JSON for each judged stop; default: none.
	Log string `json:"log,omitempty"`
	// LogText adds the end of the judged message, without secrets, to the history.
	LogText bool `json:"log_text,omitempty"`
	// Subagents judges the stops of subagents too.
	Subagents bool `json:"subagents,omitempty"`

	// Clock dates the state of sessions; default: the machine's.
	Clock clock.Clock `json:"-"`
	// Judge judges a message; default: stop.Judge.
	Judge func(message string, o stop.Options) stop.Verdict `json:"-"`
}

// DefaultCap is how many stops in a row are refused by default.
// The hosts that have a cap of their own end the turn after 8.
const DefaultCap = 3

const maxCap = 100

// deadline is how long an answer may take. Judging takes milliseconds; this is for
// a host that never closes standard input, or a file system that hangs.
const deadline = 5 * time.Second

// Validate returns an error for an invalid field.
func (c Config) Validate() error {
	switch {
	case c.Host != "" && c.Host != Auto && !slices.Contains(Hosts(), c.Host):
		return fmt.Errorf("host %q is not known; use one of %v or %s", c.Host, Hosts(), Auto)
	case c.Policy.Validate() != nil:
		return c.Policy.Validate()
	case c.Threshold != 0 && !(c.Threshold > 0 && c.Threshold <= 1):
		return fmt.Errorf("threshold %g is not above 0 and at most 1", c.Threshold)
	case c.Cap < 0 || c.Cap > maxCap:
		return fmt.Errorf("cap %d is not within 1 and %d", c.Cap, maxCap)
	}
	return nil
}

func (c Config) withDefaults() Config {
	if c.Host == "" {
		c.Host = Auto
	}
	if c.Policy == "" {
		c.Policy = stop.Balanced
	}
	if c.Cap == 0 {
		c.Cap = DefaultCap
	}
	if c.Clock == nil {
		c.Clock = clock.Real()
	}
	if c.Judge == nil {
		c.Judge = stop.Judge
	}
	return c
}

// result is the outcome of one call.
type result struct {
	host   Host   // whose contract the answer follows
	reason string // the next prompt of the agent; empty lets it stop
	note   string // a line for standard error; may be empty
}

// Run answers one call of a host: it reads its JSON from stdin and writes the
// answer to stdout. It returns when that is done, after five seconds, or when ctx
// ends, whichever comes first; the process should then end with exit status 0.
func Run(ctx context.Context, cfg Config, stdin io.Reader, stdout, stderr io.Writer) {
	cfg = cfg.withDefaults()
	ctx, cancel := cfg.Clock.WithTimeout(ctx, deadline)
	defer cancel()
	// A read that hangs cannot be cancelled, so it is abandoned.
	answered := make(chan result, 1)
	go func() { answered <- answerSafely(ctx, cfg, stdin) }()
	r := result{host: cfg.Host}
	select {
	case r = <-answered:
	case <-ctx.Done():
		r.note = failure(fmt.Errorf("no answer in time: %w", clock.Err(ctx)))
	}
	if r.note != "" {
		fmt.Fprintln(stderr, "rehearse guard:", sanitize.Line(r.note, maxNote))
	}
	if _, err := stdout.Write(encode(r.host, r.reason)); err != nil {
		fmt.Fprintln(stderr, "rehearse guard: the answer could not be written:", err)
	}
}

const maxNote = 400

func failure(err error) string { return "the agent may stop unjudged: " + err.Error() }

// answerSafely calls answer; after a panic the agent may stop.
func answerSafely(ctx context.Context, cfg Config, stdin io.Reader) (r result) {
	r.host = cfg.Host
	defer func() {
		if p := recover(); p != nil {
			r = result{host: r.host, note: failure(fmt.Errorf("internal error: %v", p))}
		}
	}()
	data, err := readInput(stdin)
	if err != nil {
		r.note = failure(err)
		return r
	}
	in, err := parse(data, cfg.Host)
	r.host = in.host
	if err != nil {
		r.note = failure(err)
		return r
	}
	return answer(ctx, cfg, in)
}

// maxInput bounds what is read from the host: a message of 10 MB, escaped.
const maxInput = 32 << 20

// readInput reads one JSON object and no further, as some hosts leave standard input
// open.
func readInput(stdin io.Reader) ([]byte, error) {
	limited := &io.LimitedReader{R: stdin, N: maxInput}
	in := bufio.NewReader(limited)
	begin, err := skipBlanks(in)
	switch {
	case limited.N <= 0:
		return nil, errTooLong
	case errors.Is(err, io.EOF):
		return nil, errors.New("the host's input is empty")
	case err != nil:
		return nil, fmt.Errorf("read the host's input: %w", err)
	case begin != '{':
		return nil, errors.New("the host's input is not a JSON object; to judge a text, give its file or - as an argument")
	}
	var data json.RawMessage
	err = json.NewDecoder(in).Decode(&data)
	switch {
	case err != nil && limited.N <= 0:
		return nil, errTooLong
	case err != nil:
		return nil, fmt.Errorf("read the host's JSON: %w", err)
	}
	return data, nil
}

var errTooLong = fmt.Errorf("the host's input is longer than %d MB", maxInput>>20)

// skipBlanks returns the first character that is neither blank nor a byte-order
// mark, and unreads it.
func skipBlanks(in *bufio.Reader) (rune, error) {
	for {
		r, _, err := in.ReadRune()
		if err != nil {
			return 0, err
		}
		if r != '\ufeff' && !unicode.IsSpace(r) {
			return r, in.UnreadRune()
		}
	}
}

// answer judges a stop and remembers it.
func answer(ctx context.Context, cfg Config, in input) result {
	r := result{host: in.host}
	skip := in.skip
	if skip == "" && in.subagent && !cfg.Subagents {
		skip = "a subagent stops"
	}
	s := sighting{skip: skip}
	var missing error
	if skip == "" {
		s, missing = judgeStop(cfg, &in)
	}
	store, err := openStore(cfg)
	var recording error
	if err == nil {
		err = store.update(ctx, in, func(past *memory) {
			if s.verdict == nil && missing != nil && past.Pending != nil {
				s, missing = past.Pending.sighting(), nil
			}
			s.outcome = decide(past, in, s, cfg)
			if s.outcome != noted { // the stop itself follows
				recording = store.record(entryOf(cfg, in, s))
			}
		})
	}
	switch {
	case missing != nil:
		r.note = failure(missing)
	case err != nil:
		r.note = failure(err)
		s.outcome = ""
	case s.outcome == blocked:
		r.reason = reason(*s.verdict)
	case s.outcome == capped:
		r.note = fmt.Sprintf("the agent may stop although work is announced: it was sent back %d times in a row", cfg.Cap)
	case s.outcome == repeated:
		r.note = "the agent may stop although work is announced: it was sent back for this message before"
	case s.outcome == orphaned:
		r.note = "the agent may stop although work is announced: the host says that it was sent back before, and nothing is known of that"
	}
	if recording != nil && r.note == "" {
		r.note = recording.Error()
	}
	if cfg.Log != "" && s.outcome != "" && s.verdict != nil {
		if err := appendLog(cfg, in, s); err != nil && r.note == "" {
			r.note = err.Error()
		}
	}
	return r
}

// sighting is a stop as it was judged.
type sighting struct {
	skip    string        // why it is not to be judged; empty if it is
	hash    string        // of the message
	verdict *stop.Verdict // nil if there was nothing to judge
	outcome outcome
}

var errNoMessage = errors.New("the input has no last message of the agent, and no transcript that has it")

// judgeStop finds the message of a stop and the user's request, and judges the message.
func judgeStop(cfg Config, in *input) (sighting, error) {
	if in.message == "" {
		if in.transcript == "" {
			return sighting{}, errNoMessage
		}
		text, err := lastMessage(in.transcript, in.subagent)
		if err != nil {
			return sighting{}, err
		}
		in.message = text
	}
	if in.request == "" && in.transcript != "" {
		in.request = lastRequest(in.transcript, in.subagent)
	}
	weights, err := stop.ReadWeightsFile(cfg.Weights)
	if err != nil {
		return sighting{}, err
	}
	v := cfg.Judge(in.message, stop.Options{Policy: cfg.Policy, Threshold: cfg.Threshold, Request: in.request, Weights: weights})
	return sighting{hash: in.messageHash(), verdict: &v}, nil
}

// Decline lets the agent stop, whatever its host, because err keeps the hook from
// working. The process should then end with exit status 0.
func Decline(err error, stdout, stderr io.Writer) {
	fmt.Fprintln(stderr, "rehearse guard:", sanitize.Line(failure(err), maxNote))
	_, _ = stdout.Write(encode(Auto, ""))
}
