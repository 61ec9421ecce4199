package reports_test

import (
	"bytes"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/reports"
)

var _ = Describe("SARIF", Label("H-02"), func() {
	type location struct {
		PhysicalLocation struct {
			ArtifactLocation struct{ URI string }
			Region           map[string]int
		}
	}
	results := func(found ...yamlsrc.Diagnostic) (all []struct {
		Message   struct{ Text string }
		Locations []location
	},
	) {
		GinkgoHelper()
		var out bytes.Buffer
		Expect(reports.SARIF(&out, "v1.2.3", found)).To(Succeed())
		var log struct {
			Runs []struct {
				Tool    struct{ Driver struct{ Version string } }
				Results *[]struct {
					Message   struct{ Text string }
					Locations []location
				}
			}
		}
		Expect(json.Unmarshal(out.Bytes(), &log)).To(Succeed())
		Expect(log.Runs[0].Tool.Driver.Version).To(Equal("1.2.3"), "validators want a number")
		Expect(log.Runs[0].Results).NotTo(BeNil(), "a list, also if it is empty")
		return *log.Runs[0].Results
	}

	It("of no problems is complete", func() { Expect(results()).To(BeEmpty()) })

	DescribeTable("names the place of a problem",
		func(d yamlsrc.Diagnostic, uri string, region map[string]int) {
			got := results(d)
			Expect(got).To(HaveLen(1))
			Expect(got[0].Message.Text).To(Equal("wrong (did you mean \"x\"?)"))
			Expect(got[0].Locations[0].PhysicalLocation.ArtifactLocation.URI).To(Equal(uri))
			Expect(got[0].Locations[0].PhysicalLocation.Region).To(Equal(region))
		},
		Entry("in a line", yamlsrc.Diagnostic{File: "s/a.yaml", Line: 3, Column: 5, Message: "wrong", Nearest: "x"}, "s/a.yaml", map[string]int{"startLine": 3, "startColumn": 5}),
		Entry("in the whole file", yamlsrc.Diagnostic{File: "s/a.yaml", Message: "wrong", Nearest: "x"}, "s/a.yaml", nil),
		Entry("with a name to escape", yamlsrc.Diagnostic{File: "a b%.yaml", Message: "wrong", Nearest: "x"}, "a%20b%25.yaml", nil),
		Entry("with a name like a scheme", yamlsrc.Diagnostic{File: "x:y.yaml", Message: "wrong", Nearest: "x"}, "./x:y.yaml", nil),
		Entry("with an absolute name", yamlsrc.Diagnostic{File: "/s/a.yaml", Message: "wrong", Nearest: "x"}, "file:///s/a.yaml", nil),
	)

	DescribeTable("has no place for a problem of the command line",
		func(flag string) {
			got := results(yamlsrc.Diagnostic{File: flag, Message: "no scenario has it"})
			Expect(got[0].Message.Text).To(Equal(flag + ": no scenario has it"))
			Expect(got[0].Locations).To(BeEmpty())
		},
		Entry("with a long flag", "--tag slow"), Entry("with a short flag", "-k slow"),
	)
})
