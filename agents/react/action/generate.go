package action

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/suggest"
)

type generateInput struct {
	Type string `yaml:"type"`
	Spec any    `yaml:"spec"`
	Path string `yaml:"path,omitempty"`
}

// defaultPaths are the paths of generated files if the agent does not give one.
var defaultPaths = map[string]string{
	"changelog": "CHANGELOG.md", "readme": "README.md", "report": "report.md",
	"markdown": "output.md", "text": "output.txt", "json": "output.json", "yaml": "output.yaml", "csv": "output.csv",
	"html": "output.html", "python": "output.py", "javascript": "output.js", "typescript": "output.ts", "go": "output.go",
	"shell": "output.sh", "sql": "output.sql",
}

// shortTypes are short names of types.
var shortTypes = map[string]string{
	"md": "markdown", "txt": "text", "yml": "yaml", "py": "python", "js": "javascript", "ts": "typescript", "sh": "shell",
}

// generate writes a file. A file of the type JSON, YAML or CSV must be valid.
func (w *work) generate(in generateInput) (string, error) {
	kind := strings.ToLower(strings.TrimSpace(in.Type))
	if long, ok := shortTypes[kind]; ok {
		kind = long
	}
	path := in.Path
	if path == "" {
		if path = defaultPaths[kind]; path == "" {
			types := slices.Sorted(maps.Keys(defaultPaths))
			if near := suggest.Nearest(kind, types); near != "" {
				return "", fail(RuleBadInput, "there is no default path for the type %q (did you mean %q?); say path", clip(in.Type), near)
			}
			return "", fail(RuleBadInput,
				"there is no default path for the type %q; say path, or one of %s", clip(in.Type), strings.Join(types, ", "))
		}
	}
	data, err := content(kind, in.Spec)
	if err != nil {
		return "", err
	}
	return w.write(path, data)
}

// content returns the content of a file. A mapping or list is encoded in the format of the
// type.
func content(kind string, spec any) ([]byte, error) {
	f, structured := formats[kind]
	s, isText := spec.(string)
	switch {
	case isText && structured && f.strict:
		if _, err := f.decode([]byte(s)); err != nil {
			return nil, fail(ruleBadContent, "spec is not %s: %v", kind, err)
		}
		return []byte(s), nil
	case isText:
		return []byte(s), nil
	case structured && f.strict:
		value, err := normal(spec)
		if err != nil {
			return nil, fail(RuleBadInput, "spec cannot be read: %v", err)
		}
		data, err := f.encode(document{value: value})
		if err != nil {
			return nil, fail(ruleBadContent, "spec cannot be written as %s: %v", kind, err)
		}
		return data, nil
	}
	return nil, fail(RuleBadInput, "spec is not text; write the whole content of the file, such as with \"spec: |\"")
}

// digest returns the SHA-256 of data in hexadecimal digits.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
