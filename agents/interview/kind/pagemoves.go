package kind

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

var personalLink = lazyregexp.New(`http://localhost(/r/[a-z2-7]+)`)

// visit sends a request of a browser without cookies for a page; a form is sent by POST.
func (c *candidate) visit(ctx context.Context, path string, form url.Values) *httptest.ResponseRecorder {
	method, body := http.MethodGet, io.Reader(nil)
	if form != nil {
		method, body = http.MethodPost, strings.NewReader(form.Encode())
	}
	rec := httptest.NewRecorder()
	r, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, body)
	if err != nil {
		rec.WriteHeader(http.StatusTeapot) // the moves require another status
		return rec
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	c.handler.ServeHTTP(rec, r)
	return rec
}

// page returns the path of a page of the interview.
func (c *candidate) page(part string) string { return "/s/" + c.view.SessionID + part }

// openLink opens the personal link on another device, which must show the same message.
func (c *candidate) openLink(ctx context.Context) answer {
	link := personalLink().FindStringSubmatch(c.visit(ctx, c.page("/mine"), nil).Body.String())
	if link == nil {
		return answer{code: "client", message: "the page of the interview shows no personal link"}
	}
	opened := c.visit(ctx, link[1], nil)
	c.require(opened.Code == http.StatusSeeOther && opened.Header().Get("Location") == c.page(""),
		"the personal link should open the interview, got the status %d", opened.Code)
	shown := c.visit(ctx, opened.Header().Get("Location"), nil)
	c.require(shown.Code == http.StatusOK && strings.Contains(shown.Body.String(), `value="`+c.view.MessageID+`"`),
		"the other device should show %s, got the status %d", c.view.MessageID, shown.Code)
	c.reload(ctx)
	return answer{}
}

// export exports the interview, with every accepted answer.
func (c *candidate) export(ctx context.Context) answer {
	got := c.visit(ctx, c.page("/export?format=json"), nil)
	var data struct{ Answers []session.Answer }
	if err := json.Unmarshal(got.Body.Bytes(), &data); err != nil {
		return answer{code: "client", message: fmt.Sprintf("the export with the status %d cannot be read: %v", got.Code, err)}
	}
	texts := func(all []session.Answer) (texts []string) {
		for _, a := range all {
			texts = append(texts, a.Text)
		}
		return texts
	}
	c.require(slices.Equal(texts(data.Answers), texts(c.accepted)), "the export should have the %d accepted answers, got %d",
		len(c.accepted), len(data.Answers))
	return answer{}
}

// erase deletes the interview on its page.
func (c *candidate) erase(ctx context.Context) answer {
	got := c.visit(ctx, c.page("/delete"), url.Values{"confirm": {"yes"}})
	if got.Code != http.StatusSeeOther {
		return answer{code: "client", message: fmt.Sprintf("the deletion was answered with the status %d", got.Code)}
	}
	c.deleted = true
	return answer{}
}

// checkDeleted checks that nothing is left of a deleted interview but the sums of its calls.
func (c *candidate) checkDeleted(ctx context.Context) error {
	_, err := c.store.Load(ctx, c.view.SessionID)
	c.require(errors.Is(err, session.ErrDeleted), "the session should be deleted, got: %v", err)
	messages, err := c.store.Messages(ctx, c.view.SessionID)
	c.require(len(messages) == 0 && (err == nil || errors.Is(err, session.ErrNotFound)),
		"%d messages are left of a deleted session", len(messages))
	totals, err := c.store.DeletedTotals(ctx)
	if err != nil {
		return err
	}
	calls := 0
	for _, t := range totals {
		calls += t.Calls
	}
	c.require(calls == int(c.calls.Load()), "the sums of deleted sessions have %d calls, and %d were made", calls, c.calls.Load())
	return nil
}
