package http

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/boundedtemplate"
	"github.com/rehearse-dev/rehearse/internal/loopback"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// turn is the data of the templates of a Request.
type turn struct {
	Turn    string // the text of the user
	N       int    // the number of the turn, from 1
	Session string // the session's id, as the application sent it; empty before
}

// requestTemplate is a compiled Request. It is safe for concurrent use.
type requestTemplate struct {
	method     string
	path, body *boundedtemplate.Template
	headers    []headerTemplate
}

type headerTemplate struct {
	name  string
	value *boundedtemplate.Template
}

// fieldError names the invalid part of a request, such as "path" or "headers.Accept".
type fieldError struct {
	field string
	err   error
}

// Error implements error.
func (e *fieldError) Error() string { return e.field + ": " + e.err.Error() }

// Unwrap returns the cause.
func (e *fieldError) Unwrap() error { return e.err }

// compile compiles a request and executes it for a few turns, which finds misspelt fields,
// and requests that do not contain the turn. The error is a *fieldError.
func (r Request) compile() (*requestTemplate, error) {
	t := &requestTemplate{method: cmp.Or(strings.ToUpper(r.Method), http.MethodPost)}
	var err error
	if t.path, err = parse("path", r.Path); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		value, err := parse("headers."+name, r.Headers[name])
		if err != nil {
			return nil, err
		}
		t.headers = append(t.headers, headerTemplate{name, value})
	}
	if t.body, err = parse("body", r.Body); err != nil {
		return nil, err
	}
	return t, t.try()
}

func parse(field, text string) (*boundedtemplate.Template, error) {
	t, err := boundedtemplate.Parse(field, text, boundedtemplate.Funcs{"json": quoted})
	if err != nil {
		return nil, &fieldError{field, err}
	}
	return t, nil
}

func quoted(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// anywhere is the base address of requests that are not sent.
const anywhere = "http://127.0.0.1"

// try builds the requests of a few turns, of which the first two differ only in their text.
func (t *requestTemplate) try() error {
	var made [2]string
	for i, data := range []turn{{Turn: "one", N: 1}, {Turn: "two", N: 1}, {Turn: "three", N: 2, Session: "s"}} {
		r, err := t.make(anywhere, data)
		if err != nil {
			return err
		}
		if i < len(made) {
			made[i] = fmt.Sprint(r.URL, r.Header, t.renderBody(data))
		}
	}
	if made[0] == made[1] {
		return &fieldError{"body", errors.New(
			`the request is the same whatever the user says; ` +
				`write the turn somewhere in it, such as body: '{"message": {{json .Turn}}}'`)}
	}
	return nil
}

// renderBody returns the body of a request that was built before without an error.
func (t *requestTemplate) renderBody(data turn) string {
	text, _ := render(t.body, "body", data)
	return text
}

// make returns the request of a turn to the application at base. The error is a *fieldError.
func (t *requestTemplate) make(base string, data turn) (*http.Request, error) {
	path, err := render(t.path, "path", data)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(path, "/") {
		return nil, &fieldError{"path", fmt.Errorf("%q is not a path; it begins with a slash, such as /chat", path)}
	}
	if _, err := url.Parse(base + path); err != nil {
		return nil, &fieldError{"path", fmt.Errorf("%w; quote what goes into it with urlquery", err)}
	}
	body, err := render(t.body, "body", data)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest(t.method, base+path, strings.NewReader(body))
	if err != nil {
		return nil, &fieldError{"method", err}
	}
	if body == "" {
		r.Body, r.GetBody, r.ContentLength = http.NoBody, nil, 0
	} else {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range t.headers {
		value, err := render(h.value, "headers."+h.name, data)
		if err != nil {
			return nil, err
		}
		if strings.ContainsAny(value, "\r\n\x00") {
			return nil, &fieldError{"headers." + h.name, fmt.Errorf(
				"%q has a line break, which no header can hold; quote it with urlquery or json", value)}
		}
		r.Header.Set(h.name, value)
	}
	return r, nil
}

// maxText limits the output of a template, in bytes.
const maxText = 4 << 20

func render(t *boundedtemplate.Template, field string, data turn) (string, error) {
	text, err := t.Execute(context.Background(), data, maxText)
	if err != nil {
		return "", &fieldError{field, err}
	}
	return text, nil
}

// parseBase returns the address of a running application without a slash at its end. It
// must be on this machine.
func parseBase(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("%q is not a URL", sanitize.MaskURL(text)) // the parser's own error would repeat a password
	case u.Scheme != "http" || u.Host == "":
		return "", fmt.Errorf("%q is not the address of an application; write one such as http://127.0.0.1:8080", sanitize.MaskURL(text))
	case !loopback.Is(u.Hostname()):
		return "", fmt.Errorf("%s is another machine; only applications on this one are driven, such as http://127.0.0.1:8080", u.Host)
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return "", fmt.Errorf("%q has more than a host and a path", sanitize.MaskURL(text))
	}
	return strings.TrimSuffix(text, "/"), nil
}
