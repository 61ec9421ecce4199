package scenarios

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// entry is a file or a link in a folder that a scenario describes.
type entry struct {
	key  string // the scenario's key that names it: files or links
	name string // as written in the file
}

// Tree checks that files and links can be created in a folder: each has its own path inside it, and
// none is below another one. folder is the name of the folder in messages.
func (c *Checker) Tree(at, folder string, files, links map[string]string) {
	taken := map[string]entry{}
	var all []entry
	for _, key := range []string{"links", "files"} {
		for _, name := range slices.Sorted(maps.Keys(map[string]map[string]string{"files": files, "links": links}[key])) {
			e, clean := entry{key, name}, path.Clean(filepath.ToSlash(name))
			switch other, double := taken[clean]; {
			case !filepath.IsLocal(filepath.FromSlash(name)) || clean == ".":
				c.Add(yamlsrc.Join(at+"."+key, name), "", "%q leaves the %s; write a relative path inside it", name, folder)
			case double:
				c.Add(yamlsrc.Join(at+"."+key, name), "", "%q is the same path as %q of %s; write it once", name, other.name, other.key)
			default:
				taken[clean] = e
				all = append(all, e)
			}
		}
	}
	for _, e := range all {
		for above := path.Dir(path.Clean(filepath.ToSlash(e.name))); above != "."; above = path.Dir(above) {
			if other, ok := taken[above]; ok {
				what := strings.TrimSuffix(other.key, "s")
				c.Add(yamlsrc.Join(at+"."+e.key, e.name), "", "%q is below %q, which is a %s and not a folder; choose another path",
					e.name, other.name, what)
				break
			}
		}
	}
}
