package cli

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
)

// payload is a type whose fields are the attributes of an event.
type payload struct{ pkg, kind, name, about, fields string }

// TestEventReference compares docs/reference/events.md with the payloads in the source; with -update it writes it.
func TestEventReference(t *testing.T) {
	g, path := gomega.NewWithT(t), "../docs/reference/events.md"
	list := payloads(g)
	g.Expect(len(list)).To(gomega.BeNumerically(">", 35))
	var b strings.Builder
	b.WriteString("# Events\n\n" + generated + "\nThe `event` lines of a [recording](recording.md), and `events` in expectations: what an agent reported, in order. Each has a\n" +
		"`kind`, mostly a `name`, the iteration `n`, a `detail` for people, and `attrs`.\n\n| kind | meaning |\n|---|---|\n")
	for _, kind := range []event.Kind{event.Iteration, event.State, event.Verdict, event.Guard, event.Checkpoint, event.HandOver, event.Tool, event.End} {
		fmt.Fprintf(&b, "| `%s` | %s |\n", kind, kindWords[kind])
	}
	last := ""
	for _, p := range list {
		if p.pkg != last {
			last = p.pkg
			fmt.Fprintf(&b, "\n## Package %s\n\n| kind | name | attributes | meaning |\n|---|---|---|---|\n", p.pkg)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.kind, p.name, p.fields, cell(p.about))
	}
	if *update {
		g.Expect(os.WriteFile(path, []byte(b.String()), 0o600)).To(gomega.Succeed())
	}
	got, err := os.ReadFile(path)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(got)).To(gomega.Equal(b.String()), "run make docs")
}

var kindWords = map[event.Kind]string{
	event.Iteration: "one pass of an outer loop ended", event.State: "a state machine changed its state, or something about the agent became known",
	event.Verdict: "a judgement on an answer or on the work", event.Guard: "a guard intervened", event.Checkpoint: "state was saved",
	event.HandOver: "control went to a person or to another agent", event.Tool: "a call of a tool of a scripted server ended", event.End: "the agent ended",
}

// payloads finds the types with a method Event() (event.Kind, string), sorted by package, kind and name.
func payloads(g *gomega.WithT) (list []payload) {
	for _, folder := range []string{"../agents", "../harness"} {
		g.Expect(filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return err
			}
			types, methods := declared(g, path)
			for receiver, method := range methods {
				p := payload{pkg: "`" + strings.TrimPrefix(filepath.ToSlash(path), "../") + "`"}
				if p.kind = eventKind(method); p.kind == "" {
					continue
				}
				p.name = nameOf(method)
				p.about, p.fields = typeOf(types[receiver])
				list = append(list, p)
			}
			return nil
		})).To(gomega.Succeed())
	}
	slices.SortFunc(list, func(a, b payload) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
	return list
}

// declared returns the types of a package with their comments, and their methods called Event.
func declared(g *gomega.WithT, folder string) (types map[string]*ast.GenDecl, methods map[string]*ast.FuncDecl) {
	types, methods = map[string]*ast.GenDecl{}, map[string]*ast.FuncDecl{}
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						one := *d
						one.Specs = []ast.Spec{s}
						types[s.Name.Name] = &one
					}
				}
			case *ast.FuncDecl:
				if id, ok := receiverOf(d); ok && d.Name.Name == "Event" {
					methods[id] = d
				}
			}
		}
	}
	return types, methods
}

func receiverOf(f *ast.FuncDecl) (string, bool) {
	if f.Recv == nil || len(f.Recv.List) != 1 {
		return "", false
	}
	id, ok := f.Recv.List[0].Type.(*ast.Ident)
	if !ok {
		return "", false
	}
	return id.Name, true
}

// result returns result i of a method of one return statement.
func resultOf(f *ast.FuncDecl, i int) ast.Expr {
	if len(f.Body.List) != 1 {
		return nil
	}
	if r, ok := f.Body.List[0].(*ast.ReturnStmt); ok && len(r.Results) == 2 {
		return r.Results[i]
	}
	return nil
}

var kindNames = map[string]event.Kind{
	"Iteration": event.Iteration, "State": event.State, "Verdict": event.Verdict, "Guard": event.Guard, "Checkpoint": event.Checkpoint,
	"HandOver": event.HandOver, "Tool": event.Tool, "End": event.End,
}

// eventKind returns the kind of a method's events; empty for other methods.
func eventKind(f *ast.FuncDecl) string {
	if s, ok := resultOf(f, 0).(*ast.SelectorExpr); ok {
		return string(kindNames[s.Sel.Name])
	}
	return ""
}

func nameOf(f *ast.FuncDecl) string {
	switch name := resultOf(f, 1).(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(name.Value); err == nil && text != "" {
			return "`" + text + "`"
		}
		return ""
	case *ast.Ident:
		return "`" + strings.ToLower(strings.TrimPrefix(name.Name, "rule")) + "`"
	}
	return "varies"
}

// typeOf returns the first sentence of the comment of a type, and its fields by their JSON names.
func typeOf(d *ast.GenDecl) (about, fields string) {
	if d == nil {
		return "", ""
	}
	spec := d.Specs[0].(*ast.TypeSpec)
	comment := d.Doc.Text()
	if spec.Doc != nil {
		comment = spec.Doc.Text()
	}
	about, _, _ = strings.Cut(strings.Join(strings.Fields(comment), " "), ". ")
	s, ok := spec.Type.(*ast.StructType)
	if !ok {
		return about, ""
	}
	var names []string
	for _, field := range s.Fields.List {
		if field.Tag == nil {
			continue
		}
		tag, err := strconv.Unquote(field.Tag.Value)
		name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if err == nil && name != "" && name != "-" {
			names = append(names, "`"+name+"`")
		}
	}
	return about, strings.Join(names, ", ")
}
