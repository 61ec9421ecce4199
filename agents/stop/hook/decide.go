package hook

import (
	"time"

	"github.com/rehearse-dev/rehearse/agents/stop"
)

// outcome is what became of a stop.
type outcome string

const (
	allowed    outcome = "allowed"     // nothing speaks against it
	blocked    outcome = "blocked"     // refused
	wouldBlock outcome = "would-block" // would have been refused but for the shadow mode
	capped     outcome = "capped"      // let through after Cap refusals in a row
	repeated   outcome = "repeated"    // let through: the last refusal was for the same message
	orphaned   outcome = "orphaned"    // let through: the host knows of a refusal and we know nothing
	skipped    outcome = "skipped"     // not judged
	noted      outcome = "noted"       // no stop yet; the judgement is kept for it
	unjudged   outcome = "unjudged"    // there was no message
)

// memory is what is remembered of a session.
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

	known bool // it was there
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

// stale is how old a memory may be to count: a run that crashed long ago says
// nothing about one of today.
const stale = 24 * time.Hour

// decide returns what becomes of a stop and changes the memory accordingly. It never
// refuses more than cfg.Cap stops in a row:
//
//   - A host whose flag can be trusted (contract.flagged) begins a new row when it
//     says that the agent was not sent back. The others begin one after a stop that
//     was let through.
//   - That the agent was sent back counts as our doing only if we remember it; it
//     may have been another hook. But if we know nothing at all of a session that
//     was sent back, what we knew is lost and cannot bound anything: the agent may
//     stop.
//   - The message that was refused last is never refused again: going on did not
//     help. This changes nothing else, since the same hook may be installed twice.
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
