package mocks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// maxFile is the size in bytes up to which the file of a line is read.
const maxFile = 10 << 20

// Load puts the contents of the files that lines name in their place, reading
// them from fsys, the script's folder. Give it the FS of an os.Root: os.DirFS
// follows symbolic links out of the folder. The error joins those of all lines.
func (s *Script) Load(fsys fs.FS) error {
	var errs []error
	for _, set := range s.sets() {
		for i := range set.lines {
			l := &set.lines[i]
			if l.File == "" {
				continue
			}
			text, err := readText(fsys, l.File)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s[%d].file: %w", set.name, i, err))
				continue
			}
			l.Text, l.File = &text, ""
		}
	}
	return errors.Join(errs...)
}

// lineSet is the replies or the rules of a script.
type lineSet struct {
	name  string
	lines []Line
}

func (s *Script) sets() []lineSet {
	return []lineSet{{"replies", s.Replies}, {"rules", s.Rules}}
}

// localPath returns name in the form that package fs takes, or an error if it is
// absolute or leaves the folder.
func localPath(name string) (string, error) {
	clean := path.Clean(name)
	if strings.ContainsAny(name, "\\\x00") || !fs.ValidPath(clean) || clean == "." {
		return "", errors.New("must be a relative path with slashes that stays in the script's folder")
	}
	return clean, nil
}

func readText(fsys fs.FS, name string) (string, error) {
	clean, err := localPath(name)
	if err != nil {
		return "", fmt.Errorf("%q %w", name, err)
	}
	// A pipe or a device would block the open, so look first.
	info, err := fs.Stat(fsys, clean)
	if err != nil {
		return "", fmt.Errorf("read the answer's text: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("read the answer's text: %q is not a regular file", name)
	}
	file, err := fsys.Open(clean)
	if err != nil {
		return "", fmt.Errorf("read the answer's text: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the answer's text: %w", err)
	case len(data) > maxFile:
		return "", fmt.Errorf("%q is larger than the %d MB that an answer may have", name, maxFile>>20)
	case !utf8.Valid(data):
		return "", fmt.Errorf("%q is not UTF-8 text; to rehearse such an answer use the fault not-utf8", name)
	}
	return string(data), nil
}
