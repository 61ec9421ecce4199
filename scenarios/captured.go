package scenarios

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/mocks"
)

// addScript replaces the backend's lines by the script of a file. Problems are reported at their
// position in that file.
func (c *Checker) addScript(b *Backend, fsys fs.FS, sum *digest) Diagnostics {
	name := b.ScriptFile
	if name == "" {
		return nil
	}
	if len(b.Replies)+len(b.Rules) > 0 || b.State != "" {
		c.Add("backend.script", "", "the script is in the file %q; remove replies, rules and state here, or the file", name)
		return nil
	}
	data, err := readScript(fsys, name)
	if err != nil {
		c.missingFile("backend.script", name, fsys, err)
		return nil
	}
	sum.file(name, data)
	folder, err := fs.Sub(fsys, path.Dir(path.Clean(name)))
	if err != nil {
		c.missingFile("backend.script", name, fsys, err)
		return nil
	}
	script, found := parseScript(name, data, folder, sum)
	b.Replies, b.Rules, b.State = script.Replies, script.Rules, script.State
	b.Model, b.Lenient = cmp.Or(b.Model, script.Model), b.Lenient || script.Lenient
	b.Relax, b.Strict = append(b.Relax, script.Relax...), append(b.Strict, script.Strict...)
	b.Moderations = append(b.Moderations, script.Moderations...)
	b.Storage = append(b.Storage, script.Storage...)
	return found
}

// readScript reads a script file, which must be inside the folder.
func readScript(fsys fs.FS, name string) ([]byte, error) {
	clean := path.Clean(name)
	if strings.ContainsAny(name, "\\\x00") || !fs.ValidPath(clean) {
		return nil, fmt.Errorf("%q must be a relative path with slashes that stays in the scenario's folder", name)
	}
	info, err := fs.Stat(fsys, clean) // opening a pipe would block
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the script: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read the script: %q is not a regular file", name)
	case info.Size() > yamlsrc.MaxBytes:
		return nil, fmt.Errorf("read the script: %q has %d bytes; at most %d are allowed", name, info.Size(), yamlsrc.MaxBytes)
	}
	data, err := fs.ReadFile(fsys, clean)
	if err != nil {
		return nil, fmt.Errorf("read the script: %w", err)
	}
	return data, nil
}

// loadFrames reads the captured answers that script lines name, and adds them to the digest.
func (c *Checker) loadFrames(s *mocks.Script, at string, fsys fs.FS, sum *digest) {
	for _, p := range s.LoadFrames(fsys) {
		c.Add(join(at, p.Path), p.Nearest, "%s", p.Message)
	}
	for _, answer := range s.Answers() {
		if answer.Frames == nil || answer.Frames.Captured() == nil {
			continue
		}
		x := answer.Frames.Captured()
		sum.part(x.Body)
		for _, f := range x.Frames {
			_ = binary.Write(sum.sum, binary.BigEndian, [2]int64{int64(f.Gap), int64(f.Bytes)}) // a hash accepts all data
		}
	}
}
