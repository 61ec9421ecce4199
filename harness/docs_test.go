package harness_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	helpdesk "github.com/rehearse-dev/rehearse/examples/gotest"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// quoted is a block of docs/how-to/go-tests.md and the file that it quotes.
var quoted = regexp.MustCompile("(?s)<!-- from (\\S+) -->\n```\\w+\n(.*?)```\n")

var _ = Describe("docs/how-to/go-tests.md", func() {
	text := ""
	BeforeEach(func() { text = readFile("../docs/how-to/go-tests.md") })

	It("quotes code that is compiled and run", func() {
		blocks := quoted.FindAllStringSubmatch(text, -1)
		for _, block := range blocks {
			Expect(readFile(filepath.Join("..", block[1]))).To(ContainSubstring(block[2]), block[1])
		}
		// Only the installation commands are not quoted from a file.
		Expect(strings.Count(text, "\n```")).To(Equal(2*len(blocks) + 2))
	})

	It("quotes existing files, and so does docs/how-to/new-kind.md", func() {
		blocks := quoted.FindAllStringSubmatch(readFile("../docs/how-to/new-kind.md"), -1)
		Expect(len(blocks)).To(BeNumerically(">=", 6))
		for _, block := range blocks {
			Expect(readFile(filepath.Join("..", block[1]))).To(ContainSubstring(block[2]), block[1])
		}
	})

	It("shows the output of a failing test", func() {
		res, err := harness.Rehearse(context.Background(), harness.Rehearsal{
			Text: strings.Replace(readFile("../examples/gotest/scenarios/hours.yaml"), "calls: 2", "calls: 3", 1),
			Makers: map[string]app.Maker{"helpdesk": func(site app.Site) func(context.Context, string) (string, error) {
				d := &helpdesk.Desk{BaseURL: site.Backend, Key: app.Key, Client: site.Client, Sleep: site.Clock.Sleep}
				return d.Answer
			}},
		})
		Expect(err).NotTo(HaveOccurred())
		golden.Expect("story.txt", []byte(res.String()))
	})

	It("lists each field, each matcher and all fields of a site", func() {
		for field := range reflect.TypeFor[harness.Rehearsal]().Fields() {
			Expect(text).To(ContainSubstring("| `"+field.Name+"` | "), field.Name)
		}
		for field := range reflect.TypeFor[app.Site]().Fields() {
			if field.Name == "Within" { // it is for processes
				continue
			}
			Expect(text).To(MatchRegexp("\\| (`\\w+`, )?`"+field.Name+"`(, `\\w+`)? \\| "), field.Name)
		}
		for _, name := range functions("match") {
			Expect(text).To(MatchRegexp("(?m)^\\| .*`match\\."+name+"\\("), name)
		}
	})
})

// functions returns the exported functions of a package below this one.
func functions(folder string) (names []string) {
	GinkgoHelper()
	files, err := fs.Glob(os.DirFS(folder), "*.go")
	Expect(err).NotTo(HaveOccurred())
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, file), nil, parser.SkipObjectResolution)
		Expect(err).NotTo(HaveOccurred())
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() {
				names = append(names, f.Name.Name)
			}
		}
	}
	Expect(len(names)).To(BeNumerically(">", 10))
	return names
}
