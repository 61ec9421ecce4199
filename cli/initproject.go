package cli

import (
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// projectFiles has the files that identify the language of a project, and the SDKs that they name.
var projectFiles = []struct {
	kind, file string
	sdks       map[string]*regexp.Regexp
}{
	{"node", "package.json", map[string]*regexp.Regexp{
		"openai": regexp.MustCompile(`"openai"\s*:`), "anthropic": regexp.MustCompile(`"@anthropic-ai/sdk"\s*:`),
	}},
	{"python", "pyproject.toml", pythonSDKs},
	{"python", "requirements.txt", pythonSDKs},
	{"go", "go.mod", map[string]*regexp.Regexp{"openai": regexp.MustCompile(`github\.com/sashabaranov/go-openai\s`)}},
}

var pythonSDKs = map[string]*regexp.Regexp{
	"openai": regexp.MustCompile(`(?m)(^|["'])openai\b`), "anthropic": regexp.MustCompile(`(?m)(^|["'])anthropic\b`),
}

// detectProject returns the kind of agent that fits the files of a folder, with the reason; by default a program.
func detectProject(fsys fs.FS) (kind, sdk, why string) {
	for _, p := range projectFiles {
		data, err := fs.ReadFile(fsys, p.file)
		if err != nil {
			continue
		}
		for _, name := range []string{"openai", "anthropic"} {
			if re := p.sdks[name]; re != nil && re.Match(data) {
				return p.kind, name, p.file + " requires " + name
			}
		}
		return p.kind, "none", "there is a " + p.file
	}
	return "program", "none", ""
}

// findProgram returns the file of a project that looks like its agent; empty if there is none.
func (k starterKind) findProgram(project fs.FS) string {
	var names []string
	if k.name == "node" {
		var manifest struct {
			Main string `json:"main"`
		}
		if data, err := fs.ReadFile(project, "package.json"); err == nil && json.Unmarshal(data, &manifest) == nil && manifest.Main != "" {
			names = append(names, path.Clean(manifest.Main))
		}
	}
	for _, folder := range []string{"", "src/"} {
		for _, name := range []string{"agent", "bot", "main", "index", "app"} {
			for _, extension := range programExtensions[k.name] {
				names = append(names, folder+name+extension)
			}
		}
	}
	for _, name := range names {
		if !fs.ValidPath(name) || interpreter(name) == "" {
			continue
		}
		if info, err := fs.Stat(project, name); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// programExtensions are the extensions of files that a kind of agent starts.
var programExtensions = map[string][]string{"node": {".mjs", ".js", ".cjs", ".ts"}, "python": {".py"}}

// hasScenarios reports whether a project has scenario files.
func hasScenarios(project fs.FS) bool {
	entries, err := fs.ReadDir(project, "scenarios")
	if err != nil {
		return false
	}
	for _, e := range entries {
		if !e.IsDir() && (strings.HasSuffix(e.Name(), ".yaml") || strings.HasSuffix(e.Name(), ".yml")) {
			return true
		}
	}
	return false
}

// installProject returns the command that installs what a project requires; empty if it names nothing.
func installProject(project fs.FS) []string {
	for _, p := range [][2]string{
		{"package-lock.json", "npm ci"},
		{"package.json", "npm install"},
		{"requirements.txt", "python3 -m pip install -r requirements.txt"},
		{"pyproject.toml", "python3 -m pip install ."},
	} {
		if _, err := fs.Stat(project, p[0]); err == nil {
			return []string{p[1]}
		}
	}
	return nil
}

func installSDK(kind, sdk string) []string {
	switch {
	case sdk == "none":
		return nil
	case kind == "python":
		return []string{"python3 -m pip install " + sdk}
	case sdk == "anthropic":
		return []string{"npm install @anthropic-ai/sdk"}
	}
	return []string{"npm install " + sdk}
}
