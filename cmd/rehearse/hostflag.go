package main

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/internal/loopback"
)

// hostFlag adds the flag that names further hosts for fromThisMachine.
func hostFlag(f *pflag.FlagSet, hosts *[]string) {
	f.StringSliceVar(hosts, "host", nil, "also answer requests whose Host header has this name, such as\nhost.docker.internal (default: only names of this machine)")
}

// checkHosts refuses texts that are not host names.
func checkHosts(hosts []string) error {
	for _, h := range hosts {
		if h == "" || strings.ContainsAny(h, "/@ ") || strings.Count(h, ":") == 1 {
			return fmt.Errorf("--host %q: give a name without a scheme and a port, such as host.docker.internal", h)
		}
	}
	return nil
}

// fromThisMachine keeps web pages from using a server on this machine: it answers only requests
// whose Host header names this machine or one of hosts, and refuses those that a browser
// sends from another origin.
func fromThisMachine(next http.Handler, hosts []string) http.Handler {
	return loopback.RequireHost(http.NewCrossOriginProtection().Handler(next), hosts...)
}
