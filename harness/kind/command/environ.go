package command

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/app"
)

// needed lists the variables of this process that programs need to run: where programs
// and libraries are found, and how text is encoded. No other variable is passed on.
var needed = []string{
	"PATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH",
	"SystemRoot", "SystemDrive", "ComSpec", "PATHEXT", "WINDIR", "NUMBER_OF_PROCESSORS", "ProgramFiles", "ProgramData",
}

// Environ returns the environment of a program in a site, sorted by name: the variables
// that programs need, a home and a folder for temporary files of its own, the site's
// variables, and own, which override all others.
func Environ(site app.Site, own []string) []string {
	all := map[string]string{"TERM": "dumb", "NO_COLOR": "1", "CI": "1"}
	for _, name := range needed {
		if value, ok := os.LookupEnv(name); ok { //nolint:forbidigo // what a program needs of ours
			all[name] = value
		}
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		all[name] = site.Home
	}
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		all[name] = Temp(site)
	}
	all["PWD"] = site.Folder
	if runtime.GOOS != "windows" {
		delete(all, "USERPROFILE")
	}
	for _, pairs := range [][]string{site.Env, own} {
		for _, pair := range pairs {
			name, value, _ := strings.Cut(pair, "=")
			all[name] = value
		}
	}
	env := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		env = append(env, name+"="+all[name])
	}
	return env
}

// Temp returns a site's folder for temporary files, which Start creates.
func Temp(site app.Site) string { return filepath.Join(site.Home, "tmp") }
