package store

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// The statements, for both databases.
const (
	insertSession = `INSERT INTO interview_sessions (id, candidate, created_ns, version, step, body, status, since_ns, cost_ue,
		job, invitation) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $11, $12
		WHERE NOT EXISTS (SELECT 1 FROM interview_deleted WHERE hash = $10)`
	updateSession = `UPDATE interview_sessions SET version = $3, step = $4, body = $5, status = $6, since_ns = $7, cost_ue = $8
		WHERE id = $1 AND version = $2`
	insertSubmission = `INSERT INTO interview_submissions (session, id) VALUES ($1, $2)`
	insertMessage    = `INSERT INTO interview_messages (session, seq, body) VALUES ($1, $2, $3)`
	insertAnswer     = `INSERT INTO interview_answers (session, step, idx, message, body)
		VALUES ($1, $2, $3, $4, $5)`
	putQueue = `INSERT INTO interview_queues (session, step, body) VALUES ($1, $2, $3)
		ON CONFLICT (session, step) DO UPDATE SET body = excluded.body`
	putCall = `INSERT INTO interview_calls (session, n, body, day, currency, cost) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (session, n) DO UPDATE SET body = excluded.body, day = excluded.day,
		currency = excluded.currency, cost = excluded.cost`

	deleteSession = `DELETE FROM interview_sessions WHERE id = $1 AND version = $2`
	insertDeleted = `INSERT INTO interview_deleted (hash) VALUES ($1)`
	addTotal      = `INSERT INTO interview_totals AS t (day, model, currency, calls, unpriced, input, output, cost)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (day, model, currency) DO UPDATE SET calls = t.calls + excluded.calls,
		unpriced = t.unpriced + excluded.unpriced, input = t.input + excluded.input,
		output = t.output + excluded.output, cost = t.cost + excluded.cost`
	insertSecret = `INSERT INTO interview_secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`

	addSpending = `INSERT INTO interview_spending AS t (day, address, calls, micro_eur) VALUES ($1, $2, $3, $4)
		ON CONFLICT (day, address) DO UPDATE SET calls = t.calls + excluded.calls, micro_eur = t.micro_eur + excluded.micro_eur`
	// Addresses are kept for as long as they are needed.
	forgetAddresses = `DELETE FROM interview_spending WHERE day < $1 AND address <> ''`
	selectSpending  = `SELECT calls, micro_eur FROM interview_spending WHERE day = $1 AND address = $2`

	insertInvitation = `INSERT INTO interview_invitations (hash, candidate, job, uses, used, created_ns, expires_ns, revoked, session)
		VALUES ($1, $2, $3, $4, 0, $5, $6, 0, '')`
	useInvitation = `UPDATE interview_invitations SET used = used + 1, session = $2
		WHERE hash = $1 AND used < uses AND revoked = 0 AND expires_ns > $3`
	revokeInvitation = `UPDATE interview_invitations SET revoked = 1 WHERE hash = $1`
	// What remains of the invitations of a deleted session names neither it nor its candidate.
	forgetInvitation = `UPDATE interview_invitations SET session = '', candidate = '',
		revoked = CASE WHEN candidate = '' THEN revoked ELSE 1 END WHERE session = $1`
	invitations      = `SELECT hash, candidate, job, uses, used, created_ns, expires_ns, revoked, session FROM interview_invitations `
	selectInvitation = invitations + `WHERE hash = $1`
	listInvitations  = invitations + `ORDER BY created_ns DESC, hash`

	insertShare = `INSERT INTO interview_shares (hash, session, recipient, texts, created_ns, expires_ns, revoked, opened, last_ns)
		VALUES ($1, $2, $3, $4, $5, $6, 0, 0, 0)`
	openShare   = `UPDATE interview_shares SET opened = opened + 1, last_ns = $2 WHERE hash = $1 AND revoked = 0 AND expires_ns > $2`
	revokeShare = `UPDATE interview_shares SET revoked = 1 WHERE hash = $1`
	shares      = `SELECT hash, session, recipient, texts, created_ns, expires_ns, revoked, opened, last_ns FROM interview_shares `
	selectShare = shares + `WHERE hash = $1`
	sharesOf    = shares + `WHERE session = $1 ORDER BY created_ns DESC, hash`
	listShares  = shares + `ORDER BY created_ns DESC, hash`

	countTry = `INSERT INTO interview_tries AS t (session, day, tries) VALUES ($1, $2, 1)
		ON CONFLICT (session) DO UPDATE SET tries = CASE WHEN t.day = excluded.day THEN t.tries + 1 ELSE 1 END, day = excluded.day
		WHERE t.day <> excluded.day OR t.tries < $3`
	forgetTries = `DELETE FROM interview_tries WHERE session = $1`

	// One statement reads a session and the queue of its step, so that both are from the same
	// commit.
	sessions = `SELECT s.version, s.body, q.body FROM interview_sessions s
		LEFT JOIN interview_queues q ON q.session = s.id AND q.step = s.step `
	selectSession = sessions + `WHERE s.id = $1`
	countStatuses = `SELECT status, COUNT(*), SUM(CASE WHEN since_ns < $1 THEN 1 ELSE 0 END), MIN(since_ns)
		FROM interview_sessions GROUP BY status ORDER BY status`
	sumCosts = `SELECT day, currency, CAST(SUM(calls) AS bigint), CAST(SUM(unpriced) AS bigint), SUM(cost) FROM (
		SELECT day, currency, COUNT(*) AS calls, COUNT(*) - COUNT(cost) AS unpriced, COALESCE(SUM(cost), 0) AS cost
		FROM interview_calls WHERE day >= $1 GROUP BY day, currency
		UNION ALL SELECT day, currency, calls, unpriced, cost FROM interview_totals WHERE day >= $2
		) AS both_kinds GROUP BY day, currency ORDER BY day, currency`

	selectExists     = `SELECT version FROM interview_sessions WHERE id = $1`
	selectSubmission = `SELECT 1 FROM interview_submissions WHERE session = $1 AND id = $2`
	selectMessage    = `SELECT body FROM interview_messages WHERE session = $1 AND seq = $2`
	selectMessages   = `SELECT body FROM interview_messages WHERE session = $1 ORDER BY seq`
	selectAnswers    = `SELECT body FROM interview_answers WHERE session = $1 ORDER BY message, step, idx`
	selectQueues     = `SELECT body FROM interview_queues WHERE session = $1`
	selectCalls      = `SELECT body FROM interview_calls WHERE session = $1 ORDER BY n`
	selectDeleted    = `SELECT 1 FROM interview_deleted WHERE hash = $1`
	selectTotals     = `SELECT day, model, currency, calls, unpriced, input, output, cost
		FROM interview_totals ORDER BY day, model, currency`
	selectSecret = `SELECT value FROM interview_secrets WHERE name = $1`
)

// statements are the prepared statements.
var statements = []string{
	insertSession, updateSession, insertSubmission, insertMessage, insertAnswer, putQueue, putCall,
	selectSession, countStatuses, sumCosts, selectExists, selectSubmission,
	selectMessage, selectMessages, selectAnswers, selectQueues, selectCalls,
	deleteSession, insertDeleted, addTotal, insertSecret, addSpending, forgetAddresses, selectSpending,
	insertInvitation, useInvitation, revokeInvitation, forgetInvitation, selectInvitation, listInvitations,
	selectDeleted, selectTotals, selectSecret,
	insertShare, openShare, revokeShare, selectShare, sharesOf, listShares, countTry, forgetTries,
}

// operation is one statement of a transaction.
type operation struct {
	statement string
	args      []any
	// decides is true if the transaction fails unless this operation changes a row.
	decides bool
}

// creation returns the operations that store a new session.
func creation(s session.Session, c session.Change) ([]operation, error) {
	s.Version = 1
	p := plan{id: s.ID}
	p.keys(c)
	p.key("candidate", s.Candidate)
	p.add(insertSession, s.ID, s.Candidate, session.Newest.Key(&s), s.Version, string(s.Step), p.json(&s),
		string(s.Status()), session.Latest.Key(&s), session.Dearest.Key(&s), hashOf(s.ID), s.JobID(), s.Invitation)
	p.ops[0].decides = true
	if c.Invitation != "" {
		p.add(useInvitation, c.Invitation, s.ID, s.Created.UnixNano())
		p.ops[1].decides = true
	}
	if !s.Created.IsZero() {
		p.add(forgetAddresses, session.Day(s.Created.AddDate(0, 0, -2)))
	}
	return p.change(c)
}

// update returns the operations that store the next version of a session.
func update(s session.Session, c session.Change) ([]operation, error) {
	loaded := s.Version
	s.Version++
	p := plan{id: s.ID}
	p.keys(c)
	p.add(updateSession, s.ID, loaded, s.Version, string(s.Step), p.json(&s),
		string(s.Status()), session.Latest.Key(&s), session.Dearest.Key(&s))
	p.ops[0].decides = true
	return p.change(c)
}

// plan collects operations and the first error.
type plan struct {
	id  string
	ops []operation
	err error
}

func (p *plan) change(c session.Change) ([]operation, error) {
	if c.Submission != "" {
		p.add(insertSubmission, p.id, c.Submission)
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		p.add(insertMessage, p.id, m.Seq, p.json(m))
	}
	for i := range c.Answers {
		a := &c.Answers[i]
		p.add(insertAnswer, p.id, string(a.Step), a.Index, a.Message, p.json(a))
	}
	if q := c.Queue; q != nil {
		p.add(putQueue, p.id, string(q.Step), p.json(q))
	}
	for i := range c.Calls {
		call := &c.Calls[i]
		currency, cost := "", any(nil)
		if call.Cost != nil {
			currency, cost = string(call.Cost.Currency), call.Cost.Amount
		}
		p.add(putCall, p.id, call.N, p.json(call), session.Day(call.At), currency, cost)
	}
	// All transactions lock these rows last and in this order.
	for _, spent := range c.Spent {
		p.add(addSpending, spent.Day, "", spent.Calls, spent.MicroEUR)
		if spent.Address != "" {
			p.key("address", spent.Address)
			p.add(addSpending, spent.Day, spent.Address, spent.Calls, spent.MicroEUR)
		}
	}
	return p.ops, p.err
}

func (p *plan) add(statement string, args ...any) {
	p.ops = append(p.ops, operation{statement: statement, args: args})
}

func (p *plan) keys(c session.Change) {
	p.key("session id", p.id)
	if c.Submission != "" {
		p.key("submission id", c.Submission)
	}
}

func (p *plan) key(what, key string) {
	if err := checkKey(what, key); err != nil && p.err == nil {
		p.err = err
	}
}

func (p *plan) json(v any) string {
	var text strings.Builder // avoids the copies of Marshal and string
	err := json.MarshalWrite(&text, v, options)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("encode the value to store: %w", err)
	}
	return text.String()
}

// options are the options of encoding/json, except that invalid UTF-8 is refused, so that text is
// stored unchanged.
var options = json.JoinOptions(
	jsonv1.DefaultOptionsV1(),
	jsontext.AllowInvalidUTF8(false),
	jsontext.EscapeForHTML(false),
	jsontext.EscapeForJS(false),
	json.MatchCaseInsensitiveNames(false),
)

// maxKey is the maximum length of a key in bytes. PostgreSQL can index up to about 2,700.
const maxKey = 512

// checkKey returns an error if a string cannot be a key in both databases.
func checkKey(what, key string) error {
	switch {
	case key == "":
		return fmt.Errorf("the %s is empty", what)
	case len(key) > maxKey:
		return fmt.Errorf("the %s has %d bytes; at most %d are allowed", what, len(key), maxKey)
	case !utf8.ValidString(key):
		return fmt.Errorf("the %s is not UTF-8", what)
	case strings.ContainsRune(key, 0):
		return fmt.Errorf("the %s contains a NUL character", what)
	}
	return nil
}
