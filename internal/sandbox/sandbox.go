// Package sandbox runs a program so that it can write only to given folders. On Linux it uses a user, a
// mount and a process namespace, and takes no rights of an administrator. The network is not restricted.
package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// Spec describes what a program may write. Paths are absolute.
type Spec struct {
	// Dir is the working folder.
	Dir string `json:"dir"`
	// Write are the folders and files that the program may write; all others are read-only.
	Write []string `json:"write"`
	// Protect are paths below Write that remain read-only. The program cannot replace them either.
	Protect []string `json:"protect,omitempty"`
	// Env has NAME=value pairs that replace variables of the environment.
	Env []string `json:"env,omitempty"`
}

// ErrUnsupported is returned where the operating system has no sandbox.
var ErrUnsupported = errors.New("a sandbox needs Linux")

// The first arguments that turn a process into the outer and the inner part of a sandbox; see Main.
const (
	outerArg = "__sandbox"
	innerArg = "__sandbox-inner"
)

// Wrapper returns the arguments that precede a command line to run it in a sandbox. The program in them is
// this process's executable, which must call Main.
func Wrapper(s Spec) ([]string, error) {
	if runtime.GOOS != "linux" {
		return nil, ErrUnsupported
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program for the sandbox: %w", err)
	}
	for _, path := range slices.Concat([]string{s.Dir}, s.Write, s.Protect) {
		if !filepath.IsAbs(path) {
			return nil, fmt.Errorf("the sandbox needs absolute paths, got %q", path)
		}
	}
	spec, err := json.Marshal(s)
	return []string{self, outerArg, string(spec), "--"}, err
}

// Main runs this process as a part of a sandbox if its arguments ask for that, and does not return then.
// Otherwise it does nothing. Call it first in main and in TestMain.
func Main() {
	const least = 5 // program, part, spec, "--", program
	if len(os.Args) < least || os.Args[1] != outerArg && os.Args[1] != innerArg {
		return
	}
	code, err := enter(os.Args[1] == innerArg, os.Args[2], os.Args[4:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "rehearse: sandbox:", err)
	}
	os.Exit(code)
}

// exitBroken is the exit status if the program could not be started, as of shells.
const exitBroken = 126
