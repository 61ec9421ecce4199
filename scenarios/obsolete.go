package scenarios

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// ObsoleteSnapshots returns the sorted paths of the snapshots beside the scenarios of a run that no scenario
// names. It searches the folder "snapshots" beside each scenario, and the folders of their snapshots. A
// snapshot is in use if its name occurs anywhere in a scenario file of its folder or of a folder above, even
// if that file is not part of the run.
func ObsoleteSnapshots(set []Scenario) []string {
	u := users{}
	seen := map[string]bool{}
	var obsolete []string
	for i := range set {
		sc := &set[i]
		if sc.File == "" || Shipped(sc.File) {
			continue
		}
		top := filepath.Dir(filepath.FromSlash(sc.File))
		folders := []string{filepath.Join(top, "snapshots")}
		for _, file := range sc.Expect.Snapshot.Files() {
			folders = append(folders, filepath.Join(top, filepath.Dir(filepath.FromSlash(file))))
		}
		for _, folder := range folders {
			if seen[folder] {
				continue
			}
			seen[folder] = true
			for _, name := range snapshotsIn(folder) {
				if !u.name(folder, top, name) {
					obsolete = append(obsolete, filepath.Join(folder, name))
				}
			}
		}
	}
	slices.Sort(obsolete)
	return obsolete
}

// snapshotsIn returns the names of the snapshots in a folder that can be read.
func snapshotsIn(folder string) (names []string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.Type().IsRegular() && IsSnapshot(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// users has the texts of the scenario files of folders.
type users map[string][]string

// name reports whether a scenario file names a snapshot of the folder. It searches the folder and its parents,
// up to the current folder or, outside of it, up to top.
func (u users) name(folder, top, snapshot string) bool {
	last := "."
	if filepath.IsAbs(top) || strings.HasPrefix(top, "..") {
		last = top
	}
	named := regexp.MustCompile(`(?:^|[^\w.-])` + regexp.QuoteMeta(snapshot) + `(?:$|[^\w.-])`)
	for {
		if slices.ContainsFunc(u.in(folder), func(text string) bool { return text == unreadable || named.MatchString(text) }) {
			return true
		}
		if above := filepath.Dir(folder); folder != last && above != folder {
			folder = above
			continue
		}
		return false
	}
}

// unreadable replaces the text of a scenario file that cannot be read and may name any snapshot.
const unreadable = "\x00"

// in returns the texts of the scenario files in a folder.
func (u users) in(folder string) []string {
	texts, known := u[folder]
	if known {
		return texts
	}
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		texts = append(texts, unreadable)
	}
	for _, e := range entries {
		if !isScenario(e.Name()) || e.IsDir() {
			continue
		}
		file := filepath.Join(folder, e.Name())
		data := []byte(unreadable)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() <= yamlsrc.MaxBytes {
			if text, err := os.ReadFile(file); err == nil {
				data = text
			}
		}
		texts = append(texts, string(data))
	}
	u[folder] = texts
	return texts
}
