// Package httpturn makes an HTTP request of what a user says, by templates.
package httpturn

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

// Turn is what the templates see.
type Turn struct {
	// Turn is what the user says.
	Turn string
	// N is the number of the turn, from 1.
	N int
	// Session is the session's id, as the application gave it; empty before.
	Session string
}

// Request is a request as it is written. Path, the values of Headers and Body are
// templates over a Turn, with the limits of package boundedtemplate; the function json
// quotes a value.
type Request struct {
	// Method is the HTTP method; default POST.
	Method string
	// Path begins with a slash; it may have a query.
	Path    string
	Headers map[string]string
	// Body has the content type application/json unless Headers say otherwise.
	Body string
}

// Template is a compiled Request. It is safe for concurrent use.
type Template struct {
	method     string
	path, body *boundedtemplate.Template
	headers    []header
}

type header struct {
	name  string
	value *boundedtemplate.Template
}

// FieldError says which part of a request is wrong, such as "path" or "headers.Accept".
type FieldError struct {
	Field string
	Err   error
}

// Error makes it an error.
func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }

// Unwrap is the cause.
func (e *FieldError) Unwrap() error { return e.Err }

// Compile compiles a request, and tries it: a misspelt field shows before the first
// turn, and so does a request that is the same whatever the user says. The error is a
// *FieldError.
func Compile(r Request) (*Template, error) {
	t := &Template{method: cmp.Or(strings.ToUpper(r.Method), http.MethodPost)}
	var err error
	if t.path, err = parse("path", r.Path); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		value, err := parse("headers."+name, r.Headers[name])
		if err != nil {
			return nil, err
		}
		t.headers = append(t.headers, header{name, value})
	}
	if t.body, err = parse("body", r.Body); err != nil {
		return nil, err
	}
	return t, t.try()
}

func parse(field, text string) (*boundedtemplate.Template, error) {
	t, err := boundedtemplate.Parse(field, text, boundedtemplate.Funcs{"json": quoted})
	if err != nil {
		return nil, &FieldError{field, err}
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

// anywhere is a base for requests that are only tried.
const anywhere = "http://127.0.0.1"

// try makes requests of two things that a user might say.
func (t *Template) try() error {
	var said [2]string
	for i, turn := range []Turn{{Turn: "one", N: 1}, {Turn: "two", N: 1}, {Turn: "three", N: 2, Session: "s"}} {
		r, err := t.Make(anywhere, turn)
		if err != nil {
			return err
		}
		if i < len(said) {
			said[i] = fmt.Sprint(r.URL, r.Header, t.said(turn))
		}
	}
	if said[0] == said[1] {
		return &FieldError{"body", errors.New(`the request is the same whatever the user says; write the turn somewhere in it, such as body: '{"message": {{json .Turn}}}'`)}
	}
	return nil
}

// said is the body of a request that could be made.
func (t *Template) said(turn Turn) string {
	text, _ := render(t.body, "body", turn)
	return text
}

// Make makes the request of a turn. base is the application's address. The error is a
// *FieldError.
func (t *Template) Make(base string, turn Turn) (*http.Request, error) {
	path, err := render(t.path, "path", turn)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(path, "/") {
		return nil, &FieldError{"path", fmt.Errorf("%q is not a path; it begins with a slash, such as /chat", path)}
	}
	if _, err := url.Parse(base + path); err != nil {
		return nil, &FieldError{"path", fmt.Errorf("%w; quote what goes into it with urlquery", err)}
	}
	body, err := render(t.body, "body", turn)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest(t.method, base+path, strings.NewReader(body))
	if err != nil {
		return nil, &FieldError{"method", err}
	}
	if body == "" {
		r.Body, r.GetBody, r.ContentLength = http.NoBody, nil, 0
	} else {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range t.headers {
		value, err := render(h.value, "headers."+h.name, turn)
		if err != nil {
			return nil, err
		}
		if strings.ContainsAny(value, "\r\n\x00") {
			return nil, &FieldError{"headers." + h.name, fmt.Errorf("%q has a line break, which no header can hold; quote it with urlquery or json", value)}
		}
		r.Header.Set(h.name, value)
	}
	return r, nil
}

// MaxText is how much a template may write, in bytes.
const MaxText = 4 << 20

func render(t *boundedtemplate.Template, field string, turn Turn) (string, error) {
	text, err := t.Execute(context.Background(), turn, MaxText)
	if err != nil {
		return "", &FieldError{field, err}
	}
	return text, nil
}

// Base is the address of an application that is there already, without a slash at its
// end. It must be on this machine.
func Base(text string) (string, error) {
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
