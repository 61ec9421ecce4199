package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
)

// Env is the environment variable that turns a process into a hook. Its value is a Config
// as JSON.
const Env = "REHEARSE_GUARD"

// Main runs this process as a hook if Env is set, and does not return then. Otherwise it does
// nothing. Call it first in main or TestMain, which lets a harness start its own executable as a
// hook.
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

// Prepare configures the Go runtime of a hook process. A crash that Go cannot recover from,
// such as a stack overflow, aborts the process instead of ending it with exit status 2, which
// hosts take for a refusal. And garbage collection starts later, as it does not pay off in a
// process of milliseconds.
func Prepare() {
	debug.SetTraceback("crash")
	debug.SetGCPercent(400)
}
