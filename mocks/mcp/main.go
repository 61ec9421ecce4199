package mcp

import (
	"context"
	"fmt"
	"os"
)

// Command returns the command line of a program that calls Main first, for an agent that starts the server at a
// URL as a program.
func Command(executable, url string) []string { return []string{executable, "mcp", "--connect", url} }

// Main bridges a stdio server, and does not return, if this process was started by Command. Otherwise it does
// nothing. Call it first in main or TestMain.
func Main() {
	if len(os.Args) != 4 || os.Args[1] != "mcp" || os.Args[2] != "--connect" {
		return
	}
	if err := Bridge(context.Background(), os.Args[3], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Exit(0)
}
