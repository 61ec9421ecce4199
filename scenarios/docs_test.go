package scenarios_test

import (
	"os"
	"reflect"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	supervise "github.com/rehearse-dev/rehearse/agents/persist/kind"
	"github.com/rehearse-dev/rehearse/agents/react"
	reactkind "github.com/rehearse-dev/rehearse/agents/react/kind"
	"github.com/rehearse-dev/rehearse/harness/kind/coding"
	"github.com/rehearse-dev/rehearse/harness/kind/command"
	"github.com/rehearse-dev/rehearse/harness/kind/container"
	"github.com/rehearse-dev/rehearse/harness/kind/function"
	"github.com/rehearse-dev/rehearse/harness/kind/http"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
	"github.com/rehearse-dev/rehearse/scenarios/user"
)

var _ = Describe("docs/reference/scenarios.md", func() {
	var text string
	BeforeEach(func() {
		data, err := os.ReadFile("../docs/reference/scenarios.md")
		Expect(err).NotTo(HaveOccurred())
		text = string(data)
	})

	It("names every fault", func() {
		for _, kind := range mocks.APIFaults() {
			Expect(text).To(ContainSubstring("`" + kind + "`"))
		}
		for _, kind := range mocks.ProcessFaults() {
			Expect(text).To(ContainSubstring("`" + kind + "`"))
		}
	})

	It("names every key of a scenario, its backend, lines, conditions and expectations", func() {
		for _, t := range []any{
			scenarios.Scenario{},
			scenarios.Backend{},
			mocks.Script{},
			mocks.Line{},
			mocks.Choice{},
			mocks.Answer{},
			mocks.When{},
			supervise.Options{},
			supervise.Look{},
			supervise.Crash{},
			reactkind.Options{},
			react.Options{},
			reactkind.WorkspaceOptions{},
			function.Options{},
			command.Options{},
			http.Options{},
			http.Request{},
			container.Options{},
			coding.Options{},
			user.User{},
			user.Goal{},
			user.Done{},
			user.Fact{},
			user.Rule{},
			user.When{},
			user.Style{},
			user.Step{},
		} {
			for _, key := range keys(reflect.TypeOf(t), "yaml") {
				Expect(text).To(ContainSubstring("`"+key+"`"), "%T", t)
			}
		}
		for _, key := range keys(reflect.TypeFor[expect.Expect](), "yaml") {
			Expect(text).To(ContainSubstring("`" + key + "`"))
		}
	})

	It("names every fact of the expressions", func() {
		facts := reflect.TypeFor[measure.Facts]()
		for i := range facts.NumField() {
			group := facts.Field(i)
			name := group.Tag.Get("cel")
			if name == "-" {
				continue
			}
			if group.Type.Kind() != reflect.Struct {
				Expect(text).To(ContainSubstring("`" + name + "`"))
				continue
			}
			for _, key := range keys(group.Type, "cel") {
				Expect(text).To(ContainSubstring("`" + name + "." + key))
			}
		}
		for _, e := range kinds.Language().Extensions() {
			for _, key := range keys(reflect.TypeOf(e.Zero).Elem(), "cel") {
				Expect(text).To(ContainSubstring("`" + e.Name + "." + key))
			}
		}
	})
})

// keys are the names that a struct's fields have in a file.
func keys(t reflect.Type, tag string) []string {
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get(tag), ",")
		if name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}
