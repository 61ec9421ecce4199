package kind

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"

	json "github.com/go-json-experiment/json/v1"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/web"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
)

// maxSubmissions ends an interview that makes no progress.
const maxSubmissions = 500

// candidate is the client of one interview: it submits the answers of the persona and carries out the
// moves and perturbations of the scenario.
type candidate struct {
	*rehearsed
	trial      *drive.Trial
	store      session.Store
	sink       event.Sink // of the service
	violations drive.Violations
	crashes    *drive.CrashPlan
	turns      []drive.Planned

	process *process
	handler http.Handler
	progress
	patience    int           // maximum of retries
	calls       atomic.Int32  // calls to the backend
	sessions    atomic.Int32  // started sessions
	submissions *atomic.Int64 // examined by the current process
	crashed     int           // crashes before the resumption
}

// progress is how far an interview is. See also forkPoint.
type progress struct {
	view     interview.View
	before   string // the message before the current one
	sent     int    // submissions
	turn     int    // submissions of the persona
	retries  int    // requests for an owed message
	did      []bool // completed moves
	deleted  bool   // the interview was deleted
	raised   bool   // the limits of a day were lifted
	accepted []session.Answer
	checked  int // checked invariants
}

// sending is the body of POST /axiom.
type sending struct {
	Session    string           `json:"sessionId,omitempty"`
	Candidate  string           `json:"candidateId,omitempty"`
	Language   session.Language `json:"language,omitempty"`
	Message    *string          `json:"message,omitempty"`
	Event      interview.Event  `json:"event,omitempty"`
	ID         string           `json:"submissionId,omitempty"`
	ReplyTo    string           `json:"replyTo,omitempty"`
	Invitation string           `json:"invitation,omitempty"`
}

// answer is a response of the service: a view, or an error that may have a view.
type answer struct {
	code, message string
	view          *interview.View
}

// start starts the service as a new process on the same store.
func (c *candidate) start() error {
	model := llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		c.calls.Add(1)
		return c.trial.Backend.Complete(ctx, req)
	})
	c.submissions = new(atomic.Int64)
	c.process = &process{Store: c.store, Process: drive.Process{Plan: c.crashes}, model: model}
	options := c.options()
	if c.raised {
		options.PerDay = interview.Budget{}
	}
	service, err := interview.New(options, interview.Deps{
		Prompts: []*prompt.Set{c.prompts}, Jobs: c.jobs,
		Store: c.process, Backend: c.process, Clock: c.trial.Clock, Sink: c.sink,
		Count: c.trial.Env.Tokens.Count, Price: c.trial.Price, Check: checked.check,
		Submissions: c.submissions,
		NewID:       func() string { return "rehearsed-session-" + strconv.Itoa(int(c.sessions.Add(1))) },
	})
	if err != nil {
		return err
	}
	c.handler, err = web.New(
		web.Options{StartsPerMinute: -1, AllStartsPerMinute: -1},
		web.Deps{Service: service, Store: c.process, Clock: c.trial.Clock},
	)
	return err
}

func (c *candidate) post(ctx context.Context, body sending) answer {
	data, err := json.Marshal(body)
	if err != nil {
		return answer{code: "client", message: err.Error()}
	}
	// httptest.NewRequest would encode and parse the request.
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/axiom", bytes.NewReader(data))
	if err != nil {
		return answer{code: "client", message: err.Error()}
	}
	req.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	c.handler.ServeHTTP(rec, req)
	var problem struct {
		Error struct{ Code, Message string }
		View  *interview.View
	}
	if rec.Code != http.StatusOK {
		if err := json.Unmarshal(rec.Body.Bytes(), &problem); err != nil || problem.Error.Code == "" {
			return answer{code: "client", message: fmt.Sprintf("status %d with a body that is not an error: %.200s", rec.Code, rec.Body)}
		}
		return answer{code: problem.Error.Code, message: problem.Error.Message, view: problem.View}
	}
	var view interview.View
	if err := json.Unmarshal(rec.Body.Bytes(), &view); err != nil {
		return answer{code: "client", message: "the response is not a view: " + err.Error()}
	}
	return answer{view: &view}
}

// maxResends is the maximum number of times that a client sends a submission again.
const maxResends = 10

// deliver sends a body until it is answered. It sends it again after a crash and if the store failed.
func (c *candidate) deliver(ctx context.Context, body sending) answer {
	for again := 0; ; again++ {
		got := c.post(ctx, body)
		switch {
		case c.process.Crashed():
			c.restart()
		case got.code != string(interview.CodeStore):
			return got
		}
		if again == maxResends {
			return got
		}
	}
}

// take takes the interview from its start to its end.
func (c *candidate) take(ctx context.Context) record.End {
	if first := c.begin(ctx); first.view == nil {
		return c.end(statusError, 1, "start: "+first.message)
	}
	return c.proceed(ctx)
}

func (c *candidate) begin(ctx context.Context) answer {
	body := c.startBody(c.id())
	c.turn++
	c.perturbStart(ctx, body)
	first := c.deliver(ctx, body)
	if first.view != nil {
		c.show(*first.view)
	}
	return first
}

// proceed takes the interview from its current state to its end.
func (c *candidate) proceed(ctx context.Context) record.End {
	for c.sent < maxSubmissions {
		c.checkpoint()
		if c.opts.Pause > 0 {
			_ = c.trial.Clock.Sleep(ctx, c.opts.Pause.Std()) // the end of ctx is handled below
		}
		acted, left := c.move(ctx)
		switch {
		case ctx.Err() != nil:
			return drive.Failed("take the interview", ctx.Err())
		case left:
			return c.end(statusLeft, 0, "left at "+c.place())
		case acted:
			continue // another move may be due now
		case c.view.Finished:
			return c.end(statusFinished, 0, "")
		}
		if c.opts.Reload {
			c.reload(ctx)
		}
		c.turn++
		if got := c.act(ctx, c.next()); got.code != "" {
			if failed, end := c.failed(ctx, got); failed {
				return end
			}
		}
	}
	return c.end(statusError, 1, fmt.Sprintf("the interview has not ended after %d submissions", c.sent))
}

// failed handles a failed message: the client requests it up to patience times, and then gives up.
func (c *candidate) failed(ctx context.Context, got answer) (bool, record.End) {
	if got.code == string(interview.CodeBudget) && c.retries < c.patience && c.view.AutoContinue {
		c.retries++ // after the moves at the owed message
		return false, record.End{}
	}
	for got.code == string(interview.CodeBackend) || got.code == string(interview.CodeReply) {
		if c.retries == c.patience {
			return true, c.end(statusFailed, 1, got.code+": "+got.message)
		}
		c.retries++
		if got = c.act(ctx, sending{Event: interview.EventRetry}); got.code == "" {
			return false, record.End{}
		}
	}
	return true, c.end(statusError, 1, got.code+": "+got.message)
}

func (c *candidate) end(status string, code int, details string) record.End {
	return record.End{Status: status, ExitCode: code, Iterations: c.sent, Text: c.view.Response, Details: details}
}

// next returns the next submission of the persona.
func (c *candidate) next() sending {
	v, p := c.view, c.persona
	text := ""
	switch {
	case v.AutoContinue:
		return sending{Event: interview.EventRetry}
	case v.Kind == session.KindMirror:
		text = p.Comment(v.Step)
	case v.ExpectsAnswer:
		text = p.Answer(v.Step, max(v.QuestionIndex, 0))
	}
	if text == "" {
		return sending{Event: interview.EventGo}
	}
	return sending{Message: &text}
}

// act sends a body as the client's next submission.
func (c *candidate) act(ctx context.Context, body sending) answer {
	return c.send(ctx, c.addressed(body))
}

// send delivers a submission and records the response.
func (c *candidate) send(ctx context.Context, body sending) answer {
	got := c.deliver(ctx, body)
	c.receive(body, got)
	return got
}

// receive records a response.
func (c *candidate) receive(body sending, got answer) {
	c.recordAnswer(body, got)
	if got.view != nil {
		c.show(*got.view)
	}
}

// addressed addresses a submission to the shown message.
func (c *candidate) addressed(body sending) sending {
	body.Session = c.view.SessionID
	how, id := c.opts.Address, c.id()
	if how == addressNone {
		return body
	}
	if how != addressReplyTo {
		body.ID = id
	}
	if moves := body.Event == "" || body.Event == interview.EventGo; moves && how != addressID {
		body.ReplyTo = c.view.MessageID
	}
	return body
}

func (c *candidate) id() string {
	c.sent++
	return "submission-" + strconv.Itoa(c.sent)
}

func (c *candidate) show(v interview.View) {
	if v.MessageID != c.view.MessageID {
		c.before = c.view.MessageID
	}
	c.view = v
}

// reload resumes the session, which must change nothing.
func (c *candidate) reload(ctx context.Context) {
	got := c.deliver(ctx, sending{Session: c.view.SessionID, Event: interview.EventResume})
	shown := got.view != nil && got.view.MessageID == c.view.MessageID && got.view.Response == c.view.Response
	if !shown {
		c.require(false, "after a reload at %s something else is shown: %s", c.place(), got.message)
	}
}

// recordAnswer records an answer that must be stored from now on, because it was accepted, even if the
// next message failed.
func (c *candidate) recordAnswer(body sending, got answer) {
	if body.Message == nil || got.code != "" && !stored(got.code) || !c.view.ExpectsAnswer {
		return
	}
	if v := got.view; v != nil && !v.AutoContinue &&
		v.Step == c.view.Step && v.Kind == c.view.Kind && v.QuestionIndex == c.view.QuestionIndex {
		return // the question is repeated: this was not an answer
	}
	index := max(c.view.QuestionIndex, 0)
	if c.view.Kind == session.KindMirror {
		index = session.Reflection
	}
	c.accepted = append(c.accepted, session.Answer{Step: c.view.Step, Index: index, Text: *body.Message})
}

// place returns the current place of the interview, as moves name it.
func (c *candidate) place() string {
	switch v := c.view; {
	case v.AutoContinue:
		return string(v.Step) + "/owed"
	case v.Kind == session.KindMirror:
		return string(v.Step) + "/mirror"
	case v.QuestionIndex >= 0:
		return fmt.Sprintf("%s/%d", v.Step, v.QuestionIndex)
	default:
		return string(v.Step)
	}
}

// require counts an invariant, and reports a violation if it does not hold.
func (c *candidate) require(holds bool, format string, args ...any) {
	if c.checked++; !holds {
		c.violations.Report(format, args...)
	}
}
