package cli

import (
	"io/fs"
	"path"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// pythonTests describes the tests of a Python project.
type pythonTests struct {
	// pytest is true if unittest would miss a test.
	pytest bool
	// discover are the arguments with which unittest finds the tests; nil without tests.
	discover []string
}

var (
	testOfPytest   = lazyregexp.New(`(?m)^(async )?def test|^(import|from) pytest\b`)
	testOfUnittest = lazyregexp.New(`(?m)^class \w+\(.*TestCase\b`)
)

// maxTestFiles is the largest number of test files that are read in a folder.
const maxTestFiles = 50

// findPythonTests reads the test files in the project's folder and in tests or test. unittest only
// finds classes in test*.py, in packages and in the folder where it starts; up to Python 3.11 it
// reports success if it finds no test.
func findPythonTests(f *folder) pythonTests {
	for _, dir := range []string{"tests", "test", "."} {
		pattern := ""
		for _, name := range testFiles(f, dir) {
			text, _ := f.read(path.Join(dir, name))
			switch {
			case testOfPytest().MatchString(text):
				return pythonTests{pytest: true}
			case testOfUnittest().MatchString(text) && strings.HasPrefix(name, "test"):
				pattern = "test*.py"
			case testOfUnittest().MatchString(text) && pattern == "":
				pattern = "*_test.py"
			}
		}
		if pattern != "" {
			return pythonTests{discover: discovery(f, dir, pattern)}
		}
	}
	return pythonTests{}
}

// testFiles returns the names of test files in a folder of the project.
func testFiles(f *folder, dir string) (names []string) {
	entries, _ := fs.ReadDir(f.fsys, path.Join(f.dir, dir)) // a folder that cannot be read has no tests
	for _, e := range entries {
		name, isPython := strings.CutSuffix(e.Name(), ".py")
		if isPython && (strings.HasPrefix(name, "test") || strings.HasSuffix(name, "_test")) && len(names) < maxTestFiles {
			names = append(names, e.Name())
		}
	}
	return names
}

func discovery(f *folder, dir, pattern string) []string {
	args := []string{}
	if dir != "." {
		args = append(args, "-s", dir)
		if f.has(path.Join(dir, "__init__.py")) {
			args = append(args, "-t", ".")
		}
	}
	if pattern != "test*.py" {
		args = append(args, "-p", pattern)
	}
	return args
}
