// Command raced lists the packages of the module whose tests run under the race detector:
// packages whose code or tests start or synchronize goroutines. With -not
// it lists the others.
//
//	go run ./tools/raced [-not] [-tests ginkgo|go]
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "raced:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("raced", flag.ContinueOnError)
	not := flags.Bool("not", false, "list the packages without goroutines")
	tests := flags.String("tests", "", "list only packages whose tests are Ginkgo's (ginkgo) or only Go's (go)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	packages, err := list()
	if err != nil {
		return err
	}
	for _, p := range packages {
		concurrent, err := p.concurrent()
		if err != nil {
			return err
		}
		if concurrent != *not && p.tested(*tests) {
			fmt.Fprintln(out, p.ImportPath)
		}
	}
	return nil
}

// pkg is a package as go list describes it.
type pkg struct {
	Dir, ImportPath                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
	TestImports, XTestImports          []string
}

func list() (packages []pkg, err error) {
	cmd := exec.Command("go", "list", "-json=Dir,ImportPath,GoFiles,TestGoFiles,XTestGoFiles,TestImports,XTestImports", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages: %w", err)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("list the packages: %w", err)
		}
		packages = append(packages, p)
	}
}

// tested reports whether the package has tests of a kind, or any tests if kind is empty.
func (p pkg) tested(kind string) bool {
	imports := slices.Concat(p.TestImports, p.XTestImports)
	ginkgo := slices.Contains(imports, "github.com/onsi/ginkgo/v2")
	switch kind {
	case "ginkgo":
		return ginkgo
	case "go":
		return !ginkgo && len(imports) > 0
	}
	return len(imports) > 0
}

func (p pkg) concurrent() (bool, error) {
	for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return false, err
		}
		if concurrent(file) {
			return true, nil
		}
	}
	return false, nil
}

// synchronizing lists packages whose importers share data between goroutines, or that run
// callbacks in their own goroutines.
var synchronizing = []string{
	"sync/atomic", "golang.org/x/sync/errgroup", "net/http", "net/http/httptest", "net/http/httputil", "os/exec", "os/signal",
}

// concurrent reports whether a file starts goroutines, imports a synchronizing package, or uses package sync for
// more than a value that is computed once, which the package does safely.
func concurrent(file *ast.File) bool {
	for _, spec := range file.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil && slices.Contains(synchronizing, path) {
			return true
		}
	}
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.SelectorExpr:
			name, ok := n.X.(*ast.Ident)
			found = found || ok && name.Name == "sync" && !strings.HasPrefix(n.Sel.Name, "OnceValue")
		}
		return !found
	})
	return found
}
