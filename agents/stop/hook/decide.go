package hook

import (
	"time"

	"github.com/rehearse-dev/rehearse/agents/stop"
)

// outcome is the decision on a stop.
type outcome string

const (
	allowed    outcome = "allowed"     // the verdict lets the agent stop
	blocked    outcome = "blocked"     // refused
	wouldBlock outcome = "would-block" // would have been refused without the shadow mode
	capped     outcome = "capped"      // let through after Cap refusals in a row
	repeated   outcome = "repeated"    // let through: the last refusal was for the same message
	orphaned   outcome = "orphaned"    // let through: the host reports a refusal that is not remembered
	skipped    outcome = "skipped"     // not judged
	noted      outcome = "noted"       // not a stop yet; the judgement is kept for the stop
	unjudged   outcome = "unjudged"    // there was no message
)

// memory is the state of a session.
type memory struct {
	Schema string `json:"schema"`
	Host   Host   `json:"host"`
	// Blocks is how many stops were refused in a row.
	Blocks int `json:"blocks"`
	// Last is the hash of the message that was refused last; empty after a message
	// that might stop.
	Last    string          `json:"last,omitempty"`
	Pending *pending        `json:"pending,omitempty"`
	Counts  map[outcome]int `json:"counts"`
	Updated time.Time       `json:"updated"`

	known bool // it was read from a file
}

// pending is the judgement of a message whose stop is still to come.
type pending struct {
	Hash    string     `json:"hash"`
	MayStop bool       `json:"may_stop"`
	Class   stop.Class `json:"class"`
	Score   float64    `json:"score"`
	// Language and NeedsApproval select the text for the agent; its own words are not kept.
	Language      string `json:"language,omitempty"`
	NeedsApproval bool   `json:"needs_approval,omitempty"`
}

func (p pending) sighting() sighting {
	return sighting{hash: p.Hash, verdict: &stop.Verdict{
		MayStop: p.MayStop, Class: p.Class, Score: p.Score, Language: p.Language, NeedsApproval: p.NeedsApproval,
	}}
}

// stale is the age at which a memory no longer counts: a run that crashed long ago is
// irrelevant for one of today.
const stale = 24 * time.Hour

// decide returns the outcome of a stop and updates the memory. It never
// refuses more than cfg.Cap stops in a row:
//
//   - If the host's flag is reliable (contract.flagged), a new row begins when it reports
//     that no stop was refused. For other hosts, a new row begins after a stop that was
//     let through.
//   - A refusal that the host reports counts only if the session's memory has it, as it may
//     be another hook's. If there is no memory at all of a session with a refusal, the
//     memory was lost and cannot bound anything: the agent may stop.
//   - The message that was refused last is never refused again, as continuing did not
//     help. Nothing else changes then, since the same hook may be installed twice.
func decide(past *memory, in input, s sighting, cfg Config) (what outcome) {
	now := cfg.Clock.Now().UTC()
	if now.Sub(past.Updated) > stale {
		past.Blocks, past.Last, past.Pending = 0, "", nil
	}
	known := past.known
	past.Host, past.Updated, past.known = in.host, now, true
	defer func() { past.count(what) }()
	switch {
	case s.skip != "":
		return skipped
	case s.verdict == nil:
		return unjudged
	case in.observed:
		past.Pending = &pending{
			Hash: s.hash, MayStop: s.verdict.MayStop, Class: s.verdict.Class, Score: s.verdict.Score,
			Language: s.verdict.Language, NeedsApproval: s.verdict.NeedsApproval,
		}
		return noted
	}
	past.Pending = nil
	switch {
	case s.verdict.MayStop:
		past.Blocks, past.Last = 0, ""
		return allowed
	case s.hash == past.Last:
		return repeated
	case cfg.Shadow:
		past.Blocks, past.Last = 0, s.hash
		return wouldBlock
	case in.active && !known:
		return orphaned
	}
	return past.refuse(in, s.hash, cfg.Cap)
}

func (m *memory) refuse(in input, hash string, limit int) outcome {
	flagged := contracts[in.host].flagged
	if flagged && !in.active {
		m.Blocks = 0
	}
	m.Last = hash
	if m.Blocks >= limit {
		if !flagged {
			m.Blocks = 0
		}
		return capped
	}
	m.Blocks++
	return blocked
}

func (m *memory) count(o outcome) {
	if m.Counts == nil {
		m.Counts = map[outcome]int{}
	}
	m.Counts[o]++
}
