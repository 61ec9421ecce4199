package coding

import (
	"os"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/harness/app"
)

// passed are the variables of this process that any program needs to run at all.
var passed = []string{"PATH", "SystemRoot", "ComSpec", "PATHEXT"}

// temporary is the folder of the program's temporary files.
func temporary(site app.Site) string { return filepath.Join(site.Home, "tmp") }

// environment is all that the program finds.
func environment(site app.Site, own []string) []string {
	env := []string{"HOME=" + site.Home, "TMPDIR=" + temporary(site), "LANG=C.UTF-8", "TZ=UTC"}
	for _, name := range passed {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(append(env, site.Env...), own...)
}
