// Package glob matches the paths of files against patterns, in which ** stands
// for any number of folders.
package glob

import (
	"fmt"
	"path"
	"strings"
)

// anyFolders is the part of a pattern that matches any number of folders, none
// included; at a pattern's end, everything below.
const anyFolders = "**"

// Pattern is a compiled pattern. It may be used by several goroutines at once.
type Pattern struct{ parts []string }

// Compile reads a pattern: parts between slashes, each as path.Match has it, or **.
// It is relative: "*.go" are the Go files of the folder itself, "**/*.go" those of
// all folders below it, too.
func Compile(pattern string) (Pattern, error) {
	parts := strings.Split(pattern, "/")
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			return Pattern{}, fmt.Errorf("the pattern %q has the part %q; write a path below the folder, such as src/**/*.go", pattern, part)
		}
		if part != anyFolders && strings.Contains(part, anyFolders) {
			return Pattern{}, fmt.Errorf("the pattern %q has ** beside other text; it stands alone between slashes, such as src/**/*.go", pattern)
		}
		if _, err := path.Match(part, ""); err != nil {
			return Pattern{}, fmt.Errorf("the pattern %q is not valid at %q: %w", pattern, part, err)
		}
	}
	return Pattern{parts}, nil
}

// Match reports whether a path with slashes, without "." and "..", matches.
func (p Pattern) Match(name string) bool {
	names := strings.Split(name, "/")
	parts := p.parts
	// As with * in a flat pattern, only the last ** met has to be tried again:
	// whatever an earlier one could take, the later one can.
	var retry, rest []string
	tried := false
	for len(names) > 0 {
		switch {
		case len(parts) > 0 && parts[0] == anyFolders:
			parts = parts[1:]
			if len(parts) == 0 {
				return true
			}
			retry, rest, tried = parts, names, true
		case len(parts) > 0 && matches(parts[0], names[0]):
			parts, names = parts[1:], names[1:]
		case tried:
			rest = rest[1:]
			parts, names = retry, rest
		default:
			return false
		}
	}
	return len(parts) == 0
}

func matches(part, name string) bool {
	ok, err := path.Match(part, name)
	return err == nil && ok
}
