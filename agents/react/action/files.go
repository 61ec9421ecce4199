package action

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// The limits of what is read.
const (
	maxFile  = 4 << 20
	maxFiles = 10_000
	maxBytes = 64 << 20
	maxPath  = 4096
)

// skippedFolders rarely matter to an agent and are often large.
var skippedFolders = []string{".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"}

// clean returns a path for output: with slashes, without "." and "..".
func clean(name string) string { return path.Clean(filepath.ToSlash(name)) }

// inside checks and cleans a path that an agent wrote. Links are checked when it is
// opened.
func inside(name string) (string, error) {
	switch slashed := filepath.ToSlash(name); {
	case strings.TrimSpace(name) == "":
		return "", fail(RuleBadInput, "the path is empty")
	case len(name) > maxPath || strings.ContainsAny(name, "\x00\n\r"):
		return "", fail(RuleBadInput, "%q is not a path", clip(name))
	case path.IsAbs(slashed) || filepath.IsAbs(name) || !filepath.IsLocal(filepath.FromSlash(name)):
		return "", fail(ruleOutside, "%q is outside the workspace; name a path in it, such as src/main.py", clip(name))
	default:
		return path.Clean(slashed), nil
	}
}

// leadsOut reports whether os.Root rejected a path, for which it has no error value.
func leadsOut(err error) bool {
	return err != nil && strings.Contains(err.Error(), "escapes from parent")
}

// explain converts an error of the file system into a failure.
func explain(name string, err error) error {
	if _, known := errors.AsType[*failure](err); known {
		return err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail(ruleNoSuchFile, "there is no %s in the workspace", clip(name))
	case leadsOut(err):
		return fail(ruleOutside, "%q leads out of the workspace by a link", clip(name))
	case errors.Is(err, syscall.ENOSPC):
		return fail(ruleFileSystem, "%s: the disk is full", clip(name))
	case errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTDIR):
		return fail(ruleNotAFile, "%s: %v", clip(name), sanitize.WithoutPath(err))
	}
	return fail(ruleFileSystem, "%s: %v", clip(name), sanitize.WithoutPath(err))
}

// content reads a text file.
func (w *work) content(name string) ([]byte, error) {
	name, err := inside(name)
	if err != nil {
		return nil, err
	}
	data, err := w.open(name)
	if err != nil {
		return nil, explain(name, err)
	}
	w.read = append(w.read, name)
	return data, nil
}

// open reads the file of a cleaned path. O_NONBLOCK is for pipes.
func (w *work) open(name string) ([]byte, error) {
	f, err := w.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fail(ruleNotAFile, "%s is %s, not a file", clip(name), kind(info.Mode()))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxFile:
		return nil, fail(ruleTooLarge, "%s is larger than %d bytes", clip(name), maxFile)
	case bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data):
		return nil, fail(ruleBinary, "%s is not a text file (%s)", clip(name), format.Plural(len(data), "byte"))
	}
	return data, nil
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "something special"
}

// text is a file, or a text in an input.
type text struct {
	name string
	data []byte
}

// lines returns the lines without their endings; an empty text does not have lines.
func (t text) lines() []string { return split(t.data) }

func split(data []byte) []string {
	s := strings.TrimSuffix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	if s == "" && len(data) == 0 {
		return nil
	}
	return strings.Split(s, "\n")
}

// given returns the text of an input. An input that has several lines, or begins with "{", "[" or
// "text:", is the text itself; otherwise it is a path.
func (w *work) given(value string) (text, error) {
	if inline, ok := strings.CutPrefix(value, "text:"); ok {
		return text{"the text", []byte(strings.TrimPrefix(inline, " "))}, nil
	}
	trimmed := strings.TrimSpace(value)
	if strings.ContainsRune(trimmed, '\n') || strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		return text{"the text", []byte(value)}, nil
	}
	data, err := w.content(trimmed)
	return text{clip(clean(trimmed)), data}, err
}
