package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/reports/trace"
)

func TestTrace(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "tools/trace")
}

// proof returns the proof of a spec.
func proof(name string, v gate.Verdict, ids ...string) trace.Proof {
	return trace.Proof{Kind: "spec", Name: name, Verdict: v, IDs: ids}
}

// own returns the requirements of this project.
func own() []trace.Row {
	GinkgoHelper()
	t, err := tableOf(nil)
	Expect(err).NotTo(HaveOccurred())
	return t.Requirements
}

var _ = Describe("the list of requirements", Label("H-05"), func() {
	It("has unique ids in order, with texts of one line", func() {
		var ids []string
		for _, r := range own() {
			ids = append(ids, r.ID)
			Expect(r.Text).To(MatchRegexp(`^[A-Z].{15,120}$`), r.ID)
		}
		var want []string
		for _, group := range []struct {
			letter string
			n      int
		}{{"L", 11}, {"G", 12}, {"P", 9}, {"I", 18}, {"R", 9}, {"H", 8}} {
			for n := 1; n <= group.n; n++ {
				want = append(want, group.letter+"-"+string(rune('0'+n/10))+string(rune('0'+n%10)))
			}
		}
		Expect(ids).To(Equal(want))
	})
	It("has each requirement that a scenario of this project proves", func() {
		known := map[string]bool{}
		for _, r := range own() {
			known[r.ID] = true
		}
		claims := 0
		for _, folder := range []string{"scenarios", "test", "examples"} {
			Expect(filepath.WalkDir(filepath.Join("../..", folder), func(name string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() || filepath.Ext(name) != ".yaml" {
					return err
				}
				data, err := os.ReadFile(name)
				if err != nil {
					return err
				}
				for _, line := range proves.FindAllStringSubmatch(string(data), -1) {
					for id := range strings.SplitSeq(line[1], ",") {
						claims++
						Expect(known).To(HaveKey(strings.TrimSpace(id)), name)
					}
				}
				return nil
			})).To(Succeed())
		}
		Expect(claims).To(BeNumerically(">", 400))
	})
})

func unique(ids []string) []string { return slices.Compact(slices.Sorted(slices.Values(ids))) }

var proves = regexp.MustCompile(`(?m)^proves: \[(.*)\]`)

// ginkgoFile returns a report file in Ginkgo's own format.
func ginkgoFile(suites ...types.Report) string {
	GinkgoHelper()
	text, err := json.MarshalIndent(suites, "", "  ")
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

var _ = Describe("the specs' report", Label("H-05"), func() {
	It("gives each spec the labels of its suite, its containers and its own", func() {
		got, err := FromSpecs(strings.NewReader(ginkgoFile(types.Report{
			SuiteLabels: []string{"H-08", "fast"},
			SpecReports: types.SpecReports{
				{LeafNodeType: types.NodeTypeBeforeSuite, LeafNodeLabels: []string{"L-01"}, State: types.SpecStatePassed},
				{
					LeafNodeType: types.NodeTypeIt, LeafNodeText: "stops", LeafNodeLabels: []string{"L-05"},
					ContainerHierarchyTexts: []string{"the loop", "", "when stuck"}, ContainerHierarchyLabels: [][]string{{"L-01", "slow"}, nil, {"L-05"}},
					State: types.SpecStateFailed,
				},
			},
		})))
		Expect(err).NotTo(HaveOccurred())
		Expect(got).To(Equal([]trace.Proof{proof("the loop when stuck stops", gate.Fail, "H-08", "L-05", "L-01", "L-05")}))
	})
	DescribeTable("translates states", func(state types.SpecState, want gate.Verdict) {
		got, err := FromSpecs(strings.NewReader(ginkgoFile(types.Report{SpecReports: types.SpecReports{
			{LeafNodeType: types.NodeTypeIt, LeafNodeLabels: []string{"L-01"}, State: state},
		}})))
		Expect(err).NotTo(HaveOccurred())
		Expect(got).To(HaveLen(1))
		Expect(got[0].Verdict).To(Equal(want))
	},
		Entry("passed", types.SpecStatePassed, gate.Pass), Entry("failed", types.SpecStateFailed, gate.Fail),
		Entry("panicked", types.SpecStatePanicked, gate.Fail), Entry("timed out", types.SpecStateTimedout, gate.Fail),
		Entry("skipped", types.SpecStateSkipped, gate.Skip), Entry("pending", types.SpecStatePending, gate.Skip),
		Entry("interrupted", types.SpecStateInterrupted, gate.Error), Entry("aborted", types.SpecStateAborted, gate.Error),
		Entry("invalid", types.SpecStateInvalid, gate.Error))

	It("agrees with Ginkgo about labels and names", func() {
		words := rapid.SampledFrom([]string{"", "L-01", "G-05", "L-1", "slow", "a b", "é"})
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			s := types.SpecReport{
				LeafNodeType: types.NodeTypeIt, LeafNodeText: words.Draw(t, "text"), State: types.SpecStatePassed,
				LeafNodeLabels:           rapid.SliceOf(words).Draw(t, "labels"),
				ContainerHierarchyTexts:  rapid.SliceOf(words).Draw(t, "texts"),
				ContainerHierarchyLabels: rapid.SliceOf(rapid.SliceOf(words)).Draw(t, "container labels"),
			}
			text, err := json.Marshal([]types.Report{{SpecReports: types.SpecReports{s}}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := FromSpecs(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, label := range s.Labels() {
				if label == "L-01" || label == "G-05" {
					ids = append(ids, label)
				}
			}
			if len(got) == 0 && len(ids) == 0 {
				return
			}
			if len(got) != 1 || got[0].Name != s.FullText() || len(unique(got[0].IDs)) != len(ids) {
				t.Fatalf("got %v, but Ginkgo has %q %v", got, s.FullText(), ids)
			}
		})
	})
	DescribeTable("is rejected if invalid, with the expected format", func(text string) {
		_, err := FromSpecs(strings.NewReader(text))
		Expect(err).To(MatchError(ContainSubstring("ginkgo --json-report")))
	},
		Entry("empty", ""), Entry("an object", "{}"), Entry("torn", `[{"SpecReports": [`), Entry("text", "ok"),
		Entry("trailing", "[] []"), Entry("wrong types", `[{"SpecReports": [{"State": 4}]}]`))
})
