package boundedtemplate_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/rehearse-dev/rehearse/internal/boundedtemplate"
)

func TestBoundedTemplate(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "internal/boundedtemplate")
}

type data struct {
	Text  string
	N     int
	Lines []string
	Tags  map[string]string
	Any   any
	Each  func(func(int) bool)
}

var example = data{
	Text: "a,b", N: 3, Lines: []string{"x", "y"}, Tags: map[string]string{"k": "v"}, Any: 7,
	Each: func(yield func(int) bool) {
		for i := 0; yield(i); i++ {
		}
	},
}

func render(text string, limit int) (string, error) {
	t, err := boundedtemplate.Parse("t", text, boundedtemplate.Funcs{"json": func(v any) (string, error) {
		quoted, err := json.Marshal(v)
		return string(quoted), err
	}}, "missingkey=error")
	if err != nil {
		return "", err
	}
	return t.Execute(context.Background(), example, limit)
}

var _ = DescribeTable("a template that stays within the limits",
	func(text, want string) { Expect(render(text, 1000)).To(Equal(want)) },
	Entry("fields", "{{.Text}} {{.N}}", "a,b 3"),
	Entry("range", "{{range .Lines}}<{{.}}>{{end}}", "<x><y>"),
	Entry("range with break and else", "{{range $i, $l := .Lines}}{{$i}}{{$l}}{{break}}{{else}}none{{end}}", "0x"),
	Entry("range over a map", "{{range $k, $v := .Tags}}{{$k}}={{$v}}{{end}}", "k=v"),
	Entry("nested ranges", `{{range split "," .Text}}[{{range $.Lines}}{{.}}{{end}}]{{end}}`, "[xy][xy]"),
	Entry("a defined template", `{{define "a"}}{{if eq . "x"}}!{{else}}?{{end}}{{end}}{{range .Lines}}{{template "a" .}}{{end}}`, "!?"),
	Entry("match", `{{match "(b+)" "abbb"}}{{match "z" "abbb"}}`, "bbb"),
	Entry("pipes and formats", `{{join "-" .Lines | printf "%5s|%-3d|" "é" 4 | html}}`, "    é|4  |%!(EXTRA string=x-y)"),
	Entry("encoding functions", `{{json .Lines}}{{urlquery .Text}}{{js "'"}}{{html "<"}}{{print 1 2}}{{println "e"}}`, `["x","y"]a%2Cb\'&lt;1 2e`+"\n"),
)

var _ = DescribeTable("a template that does too much is refused:",
	func(text string, limit int, want types.GomegaMatcher) {
		_, err := render(text, limit)
		Expect(err).To(want)
		Expect(err.Error()).NotTo(ContainSubstring("boundedtemplate_"), "functions that the author did not write")
	},
	Entry("an empty loop over a number", "{{range 2000000000}}{{end}}", 10, MatchError(boundedtemplate.ErrRange)),
	Entry("one with variables", "x\n{{range $i := 2000000000}}{{end}}", 10, MatchError(ContainSubstring("line 2"))),
	Entry("one in a branch that is not taken", "{{if false}}{{range 9}}{{end}}{{end}}", 10, MatchError(boundedtemplate.ErrRange)),
	Entry("one in a template that is not used", `{{define "a"}}{{range 9}}{{end}}{{end}}`, 10, MatchError(boundedtemplate.ErrRange)),
	Entry("a number in a field", "{{range .N}}{{end}}", 10, MatchError(boundedtemplate.ErrRange)),
	Entry("a number of any type", "{{range .Any}}{{end}}", 10, MatchError(boundedtemplate.ErrRange)),
	Entry("a number in a variable", "{{$n := 2000000000}}{{range $n}}{{end}}", 10, MatchError(boundedtemplate.ErrRange)),
	Entry("a number that is computed", "{{range len .Text}}{{end}}", 10, MatchError(boundedtemplate.ErrRange)),
	Entry("a function", "{{range .Each}}{{end}}", 10, MatchError(boundedtemplate.ErrRange)),
	Entry("loops within loops", `{{$l := split "," "`+strings.Repeat(",", 1000)+`"}}{{range $l}}{{range $l}}{{range $l}}{{end}}{{end}}{{end}}`, 10, MatchError(boundedtemplate.ErrWork)),
	Entry("templates that call themselves twice", `{{define "a"}}{{if .}}{{template "a" slice . 1}}{{template "a" slice . 1}}{{end}}{{end}}{{template "a" "`+strings.Repeat("x", 60)+`"}}`, 10, MatchError(boundedtemplate.ErrWork)),
	Entry("texts that double", `{{$t := "xxxx"}}{{range split "," "`+strings.Repeat(",", 60)+`"}}{{$t = print $t $t}}{{end}}`, 10, MatchError(boundedtemplate.ErrWork)),
	Entry("a list that grows with its separator", `{{$l := split "," "`+strings.Repeat(",", 10000)+`"}}{{join (printf "%999s%999s%999s%999s" "" "" "" "") $l}}`, 10, MatchError(boundedtemplate.ErrWork)),
	Entry("a large regular expression", `{{$t := printf "%999s" ""}}{{range split "," "`+strings.Repeat(",", 5000)+`"}}{{$x := match "(x{999})" $t}}{{end}}`, 10, MatchError(boundedtemplate.ErrWork)),
	Entry("a width", `{{printf "%99999999d" 1}}`, 10, MatchError(ContainSubstring("width"))),
	Entry("a width among flags", `{{printf "%-#+09999.1d" 1}}`, 10, MatchError(ContainSubstring("width"))),
	Entry("a width that is an argument", `{{printf "%*d" 99999999 1}}`, 10, MatchError(ContainSubstring("width"))),
	Entry("a long output", "{{range .Lines}}xxxxxx{{end}}", 10, MatchError(ContainSubstring("more than 10 bytes"))),
	Entry("large JSON, again and again", `{{range split "," "`+strings.Repeat(",", 9000)+`"}}{{$x := json (printf "%999s%999s%999s%999s%999s" "" "" "" "" "")}}{{end}}`, 10, MatchError(boundedtemplate.ErrWork)),
)

var _ = Describe("An execution", func() {
	It("ends with its context", func() {
		t, err := boundedtemplate.Parse("t", "{{range .Lines}}{{end}}", nil)
		Expect(err).NotTo(HaveOccurred())
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err = t.Execute(ctx, example, 10)
		Expect(err).To(MatchError(context.Canceled))
	})

	It("shares no limit with another of the same template", func() {
		t, err := boundedtemplate.Parse("t", `{{range split "," .}}{{end}}`, nil)
		Expect(err).NotTo(HaveOccurred())
		text := strings.Repeat(",", 1<<17)
		for range 4 {
			_, err := t.Execute(context.Background(), text, 10)
			Expect(err).NotTo(HaveOccurred())
		}
	})
})

// FuzzExecute shows that every template ends, whatever its text is.
func FuzzExecute(f *testing.F) {
	for _, text := range []string{"{{range 9}}{{end}}", `{{range split "," .Text}}{{range $.Lines}}{{end}}{{end}}`, `{{define "a"}}{{template "a" .}}{{end}}{{template "a" .}}`} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		if out, err := render(text, 1000); err == nil && len(out) > 1000 {
			panic("too long: " + out)
		}
	})
}
