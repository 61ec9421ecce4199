package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
)

// Env is the environment variable by which Main knows that its process is to be a
// hook. Its value is a Config as JSON.
const Env = "REHEARSE_GUARD"

// Main turns this process into a hook if the environment says so, and does not
// return then. Otherwise it does nothing. Call it before anything else in main or
// TestMain: so a harness can start its own executable as a hook.
func Main() {
	setting := os.Getenv(Env) //nolint:forbidigo // Main is the entry point of the process
	if setting == "" {
		return
	}
	Prepare()
	var cfg Config
	err := json.Unmarshal([]byte(setting), &cfg)
	if err == nil {
		err = cfg.Validate()
	}
	if err != nil {
		Decline(fmt.Errorf("the environment variable %s is not a valid configuration: %w", Env, err), os.Stdout, os.Stderr)
		os.Exit(0)
	}
	Run(context.Background(), cfg, os.Stdin, os.Stdout, os.Stderr)
	os.Exit(0)
}

// Prepare readies this process to be a hook and nothing else. A crash that Go
// cannot recover from, such as a stack that overflows, aborts it from then on:
// otherwise it would end with exit status 2, which hosts take for a refusal. And
// the garbage collector comes later than usual, since a process that lives for
// milliseconds rarely gets back what a collection costs.
func Prepare() {
	debug.SetTraceback("crash")
	debug.SetGCPercent(400)
}
