package cli

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/sandbox"
	"github.com/rehearse-dev/rehearse/kinds"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rehearse-dev/rehearse/test/demo"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	// The program starts itself again as a hook and as a scripted agent; here that
	// is this test.
	if filepath.Base(os.Args[0]) != "rehearse" { // that of a script
		_ = os.Setenv("REHEARSE_HISTORY", "none") // runs in this process begin in the folder of the package
	}
	sandbox.Main()
	kinds.All().Main()
	demo.Main()
	testscript.Main(m, map[string]func(){"rehearse": func() { os.Exit(Main(kinds.All())) }, "mcpserver": serveMCP})
}

// TestScripts runs the program as a user does; each script in testdata/script
// reads as a session, and names at its top the requirements that it shows. The
// commands beside testscript's own are in script_test.go.
func TestScripts(t *testing.T) {
	// Programs inherit that a signal is ignored, as under nohup, but not that it is caught.
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangup) })
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Values[begunKey{}] = map[string]*begun{}
			env.Setenv("REHEARSE_OFFLINE", "1")
			env.Setenv("NO_COLOR", "1")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else a race-detector build sleeps for a second at each exit
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "namespaces" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return sandbox.Check(t.Context()) == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"asks":   asks,
			"begin":  begin,
			"awaits": awaits,
			"ends":   ends,
			"cut":    cut,
			"let":    let,
		},
	})
}
