package cli

import (
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// asks sends a request and checks the status of its answer, whose body is printed to
// FILE: asks STATUS FILE METHOD URL [NAME:VALUE ...]. The body is that of the variable
// BODY.
func asks(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 4 {
		ts.Fatalf("usage: asks STATUS FILE METHOD URL [NAME:VALUE ...]")
	}
	r, err := http.NewRequest(args[2], args[3], strings.NewReader(ts.Getenv("BODY")))
	ts.Check(err)
	for _, header := range args[4:] {
		name, value, _ := strings.Cut(header, ":")
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(r)
	ts.Check(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), body, 0o600))
	if got := strconv.Itoa(response.StatusCode); got != args[0] {
		ts.Fatalf("expected %s, got %s: %s", args[0], got, body)
	}
}
