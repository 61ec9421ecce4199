package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// Proposal describes the projects in a folder and how to check them.
type Proposal struct {
	// Kinds are the projects, such as "Go" or "Node with pnpm and TypeScript in web".
	Kinds []string
	// Checks are the proposed probes; see plan.Plan.
	Checks map[plan.Check]plan.Probe
	// Notes list files that cannot be read and checks without a proposal.
	Notes []string
}

// project is a recognised project.
type project struct {
	kind string // of Proposal.Kinds, without the folder
	dir  string // "." or a folder in it
	// commands answer checks in dir.
	commands map[plan.Check][]string
	// sources are the patterns of its files, relative to dir.
	sources []string
}

// recogniser returns the project of one kind in a folder, or nil.
type recogniser func(*folder) *project

// Propose recognises Go, Node, Python and Rust projects in a folder and its direct subfolders, and
// proposes checks for them. Problems are listed in Notes.
func Propose(fsys fs.FS) Proposal {
	p := Proposal{Checks: make(map[plan.Check]plan.Probe)}
	var projects []*project
	for _, dir := range folders(fsys) {
		f := &folder{fsys: fsys, dir: dir}
		for _, recognise := range []recogniser{recogniseGo, recogniseNode, recognisePython, recogniseRust} {
			if found := recognise(f); found != nil {
				found.dir = dir
				projects = append(projects, found)
			}
		}
		p.Notes = append(p.Notes, f.notes...)
	}
	for _, found := range projects {
		p.Kinds = append(p.Kinds, found.name())
	}
	for _, name := range []plan.Check{plan.CheckCompile, plan.CheckTests, plan.CheckValidation} {
		p.command(name, projects)
	}
	p.markers(projects)
	p.root(&folder{fsys: fsys, dir: "."})
	return p
}

// maxFolders is the largest number of subfolders that are searched.
const maxFolders = 50

// skippedFolders have dependencies, build output or test data.
var skippedFolders = []string{
	"vendor", "node_modules", "target", "dist", "build", "testdata", "fixtures", "examples", "venv", "__pycache__",
}

// folders returns the folder itself and its direct subfolders.
func folders(fsys fs.FS) []string {
	all := []string{"."}
	entries, _ := fs.ReadDir(fsys, ".") // a folder that cannot be read has no project
	for _, e := range entries {
		if name := e.Name(); e.IsDir() && !strings.HasPrefix(name, ".") && !slices.Contains(skippedFolders, name) && len(all) <= maxFolders {
			all = append(all, name)
		}
	}
	return all
}

func (p *project) name() string {
	if p.dir == "." {
		return p.kind
	}
	return p.kind + " in " + p.dir
}

// command proposes a command for a check of all projects: the command of a single project in the
// folder itself, or otherwise a shell command.
func (p *Proposal) command(name plan.Check, projects []*project) {
	var having []*project
	for _, found := range projects {
		if len(found.commands[name]) > 0 {
			having = append(having, found)
		} else if name != plan.CheckValidation {
			p.Notes = append(p.Notes, fmt.Sprintf("%s: no command for the check %s was found", found.name(), name))
		}
	}
	switch {
	case len(having) == 0:
	case len(having) == 1 && having[0].dir == ".":
		p.Checks[name] = plan.Probe{Command: having[0].commands[name]}
	default:
		parts := make([]string, len(having))
		for i, found := range having {
			parts[i] = shell(found.dir, found.commands[name])
		}
		p.Checks[name] = plan.Probe{Command: []string{"sh", "-c", strings.Join(parts, " && ")}}
	}
}

// shell returns a command in a folder as a line of the shell.
func shell(dir string, argv []string) string {
	line := format.ShellLine(argv...)
	if dir == "." {
		return line
	}
	return "(cd " + format.ShellLine("./"+dir) + " && " + line + ")"
}

// markers proposes to search the sources of the projects for unfinished work.
func (p *Proposal) markers(projects []*project) {
	var in []string
	for _, found := range projects {
		for _, pattern := range found.sources {
			if pattern = path.Join(literal(found.dir), pattern); !slices.Contains(in, pattern) {
				in = append(in, pattern)
			}
		}
	}
	if len(in) > 0 {
		p.Checks[plan.CheckFeatures] = plan.Probe{Markers: []string{"TODO", "FIXME"}, In: in}
	}
}

// literal returns a folder as a pattern that matches it alone.
func literal(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// root proposes checks for any language: a list of todos, and the target of a Makefile that checks
// everything.
func (p *Proposal) root(f *folder) {
	for _, name := range []string{"TODO.md", "TODOS.md", "todo.md", "tasks.md", "TASKS.md"} {
		if text, ok := f.read(name); ok && checkbox().MatchString(text) {
			p.Checks[plan.CheckTodos] = plan.Probe{File: name}
			break
		}
	}
	for _, name := range []string{"Makefile", "makefile", "GNUmakefile"} {
		text, ok := f.read(name)
		if !ok {
			continue
		}
		if target := makeTarget().FindStringSubmatch(text); target != nil {
			p.Checks[plan.CheckValidation] = plan.Probe{Command: []string{"make", target[1]}}
		}
		break
	}
	p.Notes = append(p.Notes, f.notes...)
}

// folder is a folder that is searched for projects.
type folder struct {
	fsys  fs.FS
	dir   string
	notes []string
}

func (f *folder) note(file, format string, args ...any) {
	f.notes = append(f.notes, path.Join(f.dir, file)+": "+fmt.Sprintf(format, args...))
}

// has reports whether one of the files exists.
func (f *folder) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		info, err := fs.Stat(f.fsys, path.Join(f.dir, name))
		return err == nil && info.Mode().IsRegular()
	})
}

// maxFile is the largest file that is read, in bytes.
const maxFile = 1 << 20

// read returns the text of a file, and whether there is one. It adds a note if the file cannot be
// read.
func (f *folder) read(name string) (string, bool) {
	if !f.has(name) {
		return "", false
	}
	text, err := f.text(name)
	if err != nil {
		f.note(name, "cannot be read, so it is ignored: %v", err)
		return "", false
	}
	return text, true
}

func (f *folder) text(name string) (string, error) {
	file, err := f.fsys.Open(path.Join(f.dir, name))
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errors.New("the file is too large")
	}
	return string(data), err
}
