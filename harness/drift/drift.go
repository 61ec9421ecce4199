// Package drift sends the requests of a captured script to a live backend again and
// reports, in tiers, how the structure of its answers has changed since.
package drift

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/redact"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/capture"
	"github.com/rehearse-dev/rehearse/mocks/tape"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// schema identifies the JSON form of a Result.
const schema = "rehearse.drift/1"

// maxBody limits the size of an answer in bytes.
const maxBody = 32 << 20

// anthropicVersion is the default version in a request to Anthropic's API.
const anthropicVersion = "2023-06-01"

// gemini is the protocol of Google's API.
const gemini = "gemini"

// Options configure the requests to a backend.
type Options struct {
	// Upstream is the root of the API; Offline forbids upstreams on other machines; see
	// capture.Options.
	Upstream string
	Offline  bool
	// Key returns the API key for a protocol; nil or "" means no key.
	Key func(protocol string) string
	// Transport sends the requests; nil means http.DefaultTransport. Redirects are not followed,
	// because they could forward the key.
	Transport http.RoundTripper
	// Clock measures the timeout; default clock.Real().
	Clock clock.Clock
	// Timeout limits the time of an answer; default 2 minutes.
	Timeout time.Duration
	// MaxCalls limits the number of requests, not counting the deletions at the end; 0 means no limit.
	MaxCalls int
	// MaxCost limits the total cost, in the unit of Cost; 0 means no limit. It is checked before
	// each call, which is estimated at its captured cost.
	MaxCost float64
	// Cost prices the usage of a model; ok is false if the price is unknown.
	Cost func(model string, u llm.Usage) (cost float64, ok bool)
	// Done is called after each answer; may be nil.
	Done func(Exchange)
}

// Result contains the differences of all answers.
type Result struct {
	Schema   string `json:"schema"`
	Upstream string `json:"upstream"`
	// Captured is the time of the capture.
	Captured time.Time `json:"captured"`
	// Exchanges are the repeated exchanges, in order.
	Exchanges []Exchange `json:"exchanges"`
	// Skipped are the exchanges that were not repeated.
	Skipped []Skipped `json:"skipped,omitempty"`
	// Left are the files that the requests uploaded and that could not be deleted at the end.
	Left []Left `json:"left,omitempty"`
	// Stopped names the cap that ended the check; empty if none did.
	Stopped string  `json:"stopped,omitempty"`
	Calls   int     `json:"calls"`
	Cost    float64 `json:"cost,omitempty"`
}

// Exchange is a repeated request.
type Exchange struct {
	N        int    `json:"n"`
	Protocol string `json:"protocol"`
	// Method of the request, unless it is POST.
	Method string `json:"method,omitempty"`
	Path   string `json:"path"`
	// Unanswered explains why nothing was compared: the backend could not be reached, or it
	// refused for a reason other than changed answers (a key, a quota, load).
	Unanswered  string       `json:"unanswered,omitempty"`
	Differences []Difference `json:"differences,omitempty"`
}

// Skipped is an exchange that was not repeated.
type Skipped struct {
	N   int    `json:"n"`
	Why string `json:"why"`
}

// Count returns the number of differences of a tier.
func (r *Result) Count(t Tier) int {
	n := 0
	for i := range r.Exchanges {
		for _, d := range r.Exchanges[i].Differences {
			if d.Tier == t {
				n++
			}
		}
	}
	return n
}

// Unanswered returns the number of exchanges that could not be compared.
func (r *Result) Unanswered() int {
	n := 0
	for i := range r.Exchanges {
		if r.Exchanges[i].Unanswered != "" {
			n++
		}
	}
	return n
}

// Run repeats the requests of a tape, each distinct one once, sequentially. It returns an error for
// invalid options only; problems of answers are part of the result. It stops when ctx ends and
// returns the differences found so far. At the end, also then, it deletes the files that the requests uploaded.
func Run(ctx context.Context, t tape.Tape, o Options) (Result, error) {
	target := capture.Options{Upstream: o.Upstream, Offline: o.Offline}
	if err := target.Validate(); err != nil {
		return Result{}, err
	}
	if o.Clock == nil {
		o.Clock = clock.Real()
	}
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Minute
	}
	r := runner{opts: o, target: &target, asked: map[string]bool{}, ids: ids{}}
	r.client = http.Client{Transport: o.Transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	r.result = Result{Schema: schema, Upstream: target.Host(), Captured: t.Headers[0].Date}
	for i := range t.Exchanges {
		if err := clock.Err(ctx); err != nil {
			r.result.Stopped = err.Error()
		}
		if r.result.Stopped != "" {
			break
		}
		r.exchange(ctx, &t.Exchanges[i])
	}
	r.deleteUploads(ctx)
	return r.result, nil
}

// runner repeats requests.
type runner struct {
	opts   Options
	target *capture.Options
	client http.Client
	asked  map[string]bool
	ids    ids
	// uploads are the files that are left at the provider.
	uploads uploads
	result  Result
}

// exchange repeats an exchange unless there is a reason to skip it.
func (r *runner) exchange(ctx context.Context, x *tape.Exchange) {
	codec, ok := wire.ForExchange(x.Protocol, x.Path)
	key := x.Verb() + " " + x.Path + "\n" + string(x.Sent())
	sent, why := r.ids.replace(codec, x)
	var skip string
	switch {
	case !ok:
		skip = fmt.Sprintf("the protocol %q is not known", x.Protocol)
	case x.Lost != "":
		skip = "no answer was captured: " + x.Lost
	case x.Status >= http.StatusBadRequest:
		skip = fmt.Sprintf("the captured status %d cannot be requested", x.Status)
	case r.asked[key]:
		skip = "an equal request was already repeated"
	case why != "":
		skip = why
	}
	if skip != "" {
		r.result.Skipped = append(r.result.Skipped, Skipped{x.N, skip})
		return
	}
	before := shapeOf(codec, x.Status, x.ContentType, x.Body)
	if r.result.Stopped = r.overCap(codec, x, &before); r.result.Stopped != "" {
		return
	}
	r.asked[key] = true
	e := Exchange{N: x.N, Protocol: x.Protocol, Method: x.Method, Path: x.Path}
	now, err := r.ask(ctx, codec, &sent)
	if err != nil && storageRequest(x) == fileUpload {
		r.left(x, "", fmt.Errorf("the upload was not answered: %w", err))
	}
	// A provider that rejects a key may quote it.
	clean := redact.New([]string{r.key(x.Protocol)})
	switch {
	case err != nil:
		e.Unanswered = clean.Text(err.Error())
	case refused(now.status):
		e.Unanswered = clean.Text(fmt.Sprintf("status %d: %v", now.status, now.unread))
	default:
		e.Differences = compare(&before, &now)
	}
	for i := range e.Differences {
		d := &e.Differences[i]
		d.Where, d.Before, d.Now = clean.Text(d.Where), clean.Text(d.Before), clean.Text(d.Now)
	}
	r.result.Exchanges = append(r.result.Exchanges, e)
	if r.opts.Done != nil {
		r.opts.Done(e)
	}
}

// refused reports whether a status is unrelated to the form of answers.
func refused(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusTooManyRequests, http.StatusRequestTimeout:
		return true
	}
	return status >= 500
}

// overCap returns the cap that the next call would exceed.
func (r *runner) overCap(codec wire.Reader, x *tape.Exchange, before *shape) string {
	if r.opts.MaxCalls > 0 && r.result.Calls >= r.opts.MaxCalls {
		return fmt.Sprintf("the cap of %d calls", r.opts.MaxCalls)
	}
	_, stored := codec.(wire.Stored)
	creates := x.Verb() == http.MethodPost && strings.HasSuffix(x.Path, "/batches")
	switch {
	case r.opts.MaxCost <= 0 || stored && !creates:
		return ""
	case stored:
		return "the cap on cost: the cost of a batch is not known before it ends"
	}
	next, ok := r.cost(&before.answer)
	if !ok {
		return fmt.Sprintf("the cap on cost: the model %q has no price", before.answer.Model)
	}
	if r.result.Cost+next > r.opts.MaxCost {
		return "the cap on cost"
	}
	return ""
}

func (r *runner) cost(c *wire.Completion) (float64, bool) {
	if r.opts.Cost == nil || c.Usage.Source == "" {
		return 0, false
	}
	return r.opts.Cost(c.Model, c.Usage)
}

// ask repeats a captured request.
func (r *runner) ask(ctx context.Context, codec wire.Reader, x *tape.Exchange) (shape, error) {
	ctx, cancel := r.opts.Clock.WithTimeout(ctx, r.opts.Timeout)
	defer cancel()
	request, err := r.request(ctx, codec, x)
	if err != nil {
		return shape{}, err
	}
	r.result.Calls++
	response, err := r.client.Do(request)
	if err != nil {
		return shape{}, withoutURL(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	switch {
	case err != nil:
		return shape{}, fmt.Errorf("read the answer: %w", err)
	case len(body) > maxBody:
		return shape{}, fmt.Errorf("the answer is longer than %d MB", maxBody>>20)
	}
	if _, stored := codec.(wire.Stored); stored && response.StatusCode == http.StatusOK {
		r.ids.learn(x.Body, body)
		r.uploads.follow(x, body)
	}
	now := shapeOf(codec, response.StatusCode, response.Header.Get("Content-Type"), body)
	if cost, ok := r.cost(&now.answer); ok {
		r.result.Cost += cost
	}
	return now, nil
}

// request returns the captured request with the current key.
func (r *runner) request(ctx context.Context, codec wire.Reader, x *tape.Exchange) (*http.Request, error) {
	path := x.Path
	own, _ := wire.SplitRoot(path) // a recorded path has no /v1, and the roots of other services
	if own.Path == "" && !codec.Dialect().Native && !strings.HasPrefix(path, "/v1beta") {
		path = "/v1" + path
	}
	address, err := r.target.Address(path)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, x.Verb(), address, bytes.NewReader(x.Sent()))
	if err != nil {
		return nil, fmt.Errorf("create the request: %w", err)
	}
	if len(x.Sent()) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	if form, ok := wire.FormType(x.Form); ok {
		request.Header.Set("Content-Type", form)
	}
	request.Header.Set("User-Agent", "rehearse")
	for name, value := range x.Header {
		request.Header.Set(name, value)
	}
	key := r.key(x.Protocol)
	anthropic := strings.HasPrefix(x.Protocol, "anthropic")
	if anthropic && request.Header.Get("Anthropic-Version") == "" {
		request.Header.Set("Anthropic-Version", anthropicVersion)
	}
	switch {
	case key == "":
	case anthropic:
		request.Header.Set("X-Api-Key", key)
	case own.Deployment != "":
		request.Header.Set("Api-Key", key)
	case x.Protocol == gemini && !strings.Contains(path, "/projects/"): // Vertex AI takes a token
		request.Header.Set("X-Goog-Api-Key", key)
	default:
		request.Header.Set("Authorization", "Bearer "+key)
	}
	return request, nil
}

func (r *runner) key(protocol string) string {
	if r.opts.Key == nil {
		return ""
	}
	return r.opts.Key(protocol)
}

// withoutURL removes the address from a client's error; it is printed elsewhere.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// Reaches reports whether there is a difference of a tier or of a more severe one.
func (r *Result) Reaches(least Tier) bool {
	tiers := Tiers() // the most severe first
	for _, t := range tiers[:slices.Index(tiers, least)+1] {
		if r.Count(t) > 0 {
			return true
		}
	}
	return false
}

// Incomplete reports whether not all captured requests were answered.
func (r *Result) Incomplete() bool {
	return r.Unanswered() > 0 || r.Stopped != "" || len(r.Exchanges) == 0
}

// Key returns the key for a protocol: that of the variable, or of the usual one if it is empty.
func Key(protocol, variable string, getenv func(string) string) string {
	usual := "OPENAI_API_KEY"
	switch {
	case strings.HasPrefix(protocol, "anthropic"):
		usual = "ANTHROPIC_API_KEY"
	case protocol == gemini:
		usual = "GEMINI_API_KEY"
	}
	return strings.TrimSpace(getenv(cmp.Or(variable, usual)))
}
