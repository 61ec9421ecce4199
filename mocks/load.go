package mocks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"strings"
	"unicode/utf8"
)

// maxFile limits the file of a line, in bytes.
const maxFile = 10 << 20

// Load replaces the files of the script by their contents. fsys is the script's folder; use the FS
// of an os.Root, because os.DirFS follows symbolic links out of the folder. The error joins the
// errors of all lines.
func (s *Script) Load(fsys fs.FS) error {
	var errs []error
	for path, a := range s.Answers() {
		if err := a.Media.Load(fsys); err != nil {
			errs = append(errs, fmt.Errorf("%s.media.file: %w", path, err))
		}
		if a.File == "" {
			continue
		}
		if err := a.Load(fsys); err != nil {
			errs = append(errs, fmt.Errorf("%s.file: %w", path, err))
		}
	}
	return errors.Join(errs...)
}

// Load replaces File by its content.
func (a *Answer) Load(fsys fs.FS) error {
	text, err := readText(fsys, a.File)
	if err == nil {
		a.Text, a.File = textOf(text), ""
	}
	return err
}

// Answers returns all answers of the script in order, with their paths, such as "replies[0]" or
// "rules[2].one_of[1]".
func (s *Script) Answers() iter.Seq2[string, *Answer] {
	return func(yield func(string, *Answer) bool) {
		for _, set := range s.sets() {
			for i := range set.lines {
				l, path := &set.lines[i], fmt.Sprintf("%s[%d]", set.name, i)
				if !yield(path, &l.Answer) {
					return
				}
				for k := range l.OneOf {
					if !yield(fmt.Sprintf("%s.one_of[%d]", path, k), &l.OneOf[k].Answer) {
						return
					}
				}
			}
		}
	}
}

// lineSet is the replies or the rules of a script.
type lineSet struct {
	name  string
	lines []Line
}

func (s *Script) sets() []lineSet {
	return []lineSet{{"replies", s.Replies}, {"rules", s.Rules}}
}

// localPath returns name in the form of package fs, or an error if it is absolute or leaves the
// folder.
func localPath(name string) (string, error) {
	clean := path.Clean(name)
	if strings.ContainsAny(name, "\\\x00") || !fs.ValidPath(clean) || clean == "." {
		return "", errors.New("must be a relative path with slashes that stays in the script's folder")
	}
	return clean, nil
}

// openRegular opens a regular file of at most limit bytes. It checks the type first, because
// opening a pipe or a device may block.
func openRegular(fsys fs.FS, name string, limit int64) (fs.File, error) {
	clean, err := localPath(name)
	if err != nil {
		return nil, fmt.Errorf("%q %w", name, err)
	}
	info, err := fs.Stat(fsys, clean)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is not a regular file", name)
	case info.Size() > limit:
		return nil, fmt.Errorf("%q is larger than %d MB", name, limit>>20)
	}
	return fsys.Open(clean)
}

func readText(fsys fs.FS, name string) (string, error) {
	data, err := readFile(fsys, name)
	switch {
	case err != nil:
		return "", err
	case !utf8.Valid(data):
		return "", fmt.Errorf("%q is not UTF-8 text; for an invalid answer use the fault not-utf8", name)
	}
	return string(data), nil
}

// readFile reads a regular file of at most maxFile bytes.
func readFile(fsys fs.FS, name string) ([]byte, error) {
	file, err := openRegular(fsys, name, maxFile)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxFile))
}
