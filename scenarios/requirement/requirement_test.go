package requirement_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/scenarios/requirement"
)

func TestRequirement(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "scenarios/requirement")
}

var _ = DescribeTable("a list of requirements", Label("H-05"), func(file, text string, want ...requirement.Requirement) {
	list, found := requirement.Parse(file, []byte(text))
	Expect(found).To(BeEmpty())
	Expect(list.File).To(Equal(file))
	Expect(list.Requirements).To(Equal(want))
},
	Entry("YAML", "r.yaml", "- {id: REQ-1, text: \"It: answers\", link: spec.docx §4}\n- id: 1.10\n",
		requirement.Requirement{ID: "REQ-1", Text: "It: answers", Link: "spec.docx §4"}, requirement.Requirement{ID: "1.10"}),
	Entry("CSV", "r.csv", "id,text,link\nREQ-1,\"It answers, always\",https://example.org/1\n",
		requirement.Requirement{ID: "REQ-1", Text: "It answers, always", Link: "https://example.org/1"}),
	Entry("CSV as spreadsheets export it", "R.CSV", "\ufeffText;ID\r\n\"Größe;\r\nzwei Zeilen\"; ANF-1 \r\n;\r\n",
		requirement.Requirement{ID: "ANF-1", Text: "Größe;\nzwei Zeilen"}),
	Entry("CSV with tabs", "r.csv", "id\ttext\nA/b_1.2\ta,b;c\n", requirement.Requirement{ID: "A/b_1.2", Text: "a,b;c"}),
	Entry("CSV of ids alone", "r.csv", "id\nA\nB", requirement.Requirement{ID: "A"}, requirement.Requirement{ID: "B"}),
)

var _ = DescribeTable("an invalid list is rejected with the position", Label("H-05"), func(file, text string, want ...string) {
	_, found := requirement.Parse(file, []byte(text))
	var got []string
	for _, d := range found {
		got = append(got, d.Error())
	}
	Expect(got).To(HaveLen(len(want)), "%q", got)
	for i := range want {
		Expect(got[i]).To(HavePrefix(want[i]))
	}
},
	Entry("an empty file", "r.csv", "\ufeff \r\n", "r.csv: the file is empty"),
	Entry("another format", "r.xlsx", "PK", "r.xlsx: is neither YAML nor CSV"),
	Entry("a header alone", "r.csv", "id,text\n", "r.csv: the list has 0 requirements"),
	Entry("no id", "r.csv", "text;link\na;b\n", `r.csv:1:1: the column "id" is missing`),
	Entry("an unknown column", "r.csv", "id,txt\nA,b\n", `r.csv:1:4: unknown column "txt" (did you mean "text"?)`),
	Entry("a column that is given twice", "r.csv", "id,ID\nA,b\n", `r.csv:1:4: the column "id" is given twice`),
	Entry("a short row", "r.csv", "id,text\nA,b\nC\n", `r.csv:3:1: the row has 1 cells; the header has 2`),
	Entry("an open quote", "r.csv", "id,text\nA,\"b\n", `r.csv:`),
	Entry("ids of another form, and twice", "r.csv", "text,id\n\"é\",a b\nx,A\n\"two\nlines\",A\n",
		`r.csv:2:5: "a b" is not the id of a requirement`, `r.csv:5:8: the id "A" is given twice; first on line 3`),
	Entry("an id of YAML that is given twice", "r.yaml", "- id: A\n- id: A\n- id: -x\n- text: y\n", `r.yaml:4:3: the key "id" is missing`),
	Entry("an id of YAML twice, after its form", "r.yaml", "- id: A\n- id: A\n- id: =1+1\n",
		`r.yaml:2:7: the id "A" is given twice; first on line 1`, `r.yaml:3:7: "=1+1" is not the id`),
	Entry("a long id", "r.csv", "id\n"+strings.Repeat("é", 65)+"\n", `r.csv:2:1: "`+strings.Repeat("é", 64)+`…" is not the id`),
	Entry("a long text", "r.csv", "id,text\nA,"+strings.Repeat("x", 10_001)+"\n", `r.csv:2:3: the text has more than 10000 characters`),
	Entry("too many", "r.csv", "id\n"+strings.Repeat("A\n", 20_001), `r.csv: the list has 20001 requirements; expected 1 to 20000`),
	Entry("UTF-16", "r.csv", "\xff\xfei\x00d\x00", "r.csv: the file has NUL bytes, as in UTF-16; expected CSV in UTF-8"),
	Entry("Latin-1", "r.csv", "id\nA\xe9\n", "r.csv: the file is not UTF-8"),
	Entry("YAML that is not a list", "r.yaml", "id: A\n", "r.yaml:1:1: "),
)

var _ = Describe("the rule of a configuration", Label("H-05"), func() {
	check := func(c requirement.Config, id string) string {
		GinkgoHelper()
		folder := GinkgoT().TempDir()
		Expect(os.WriteFile(filepath.Join(folder, "r.csv"), []byte("id\nREQ-1\nREQ-22\n"), 0o600)).To(Succeed())
		rule, err := c.Rule(folder)
		Expect(err).NotTo(HaveOccurred())
		nearest, err := rule.Check(id)
		if err == nil {
			return ""
		}
		return fmt.Sprintf("%v, nearest %q", strings.ReplaceAll(err.Error(), folder+string(filepath.Separator), ""), nearest)
	}
	It("accepts every id without a configuration", func() {
		Expect(check(requirement.Config{}, "anything/1.2_b")).To(BeEmpty())
	})
	It("compares whole ids with the pattern and the list", func() {
		all := requirement.Config{IDs: "REQ-[0-9]+|X", File: "r.csv"}
		Expect(check(all, "REQ-22")).To(BeEmpty())
		Expect(check(all, "X")).To(Equal(`r.csv has no requirement "X", nearest ""`))
		Expect(check(all, "REQ-2a")).To(Equal(`"REQ-2a" does not match requirements.ids of the configuration file, REQ-[0-9]+|X, nearest "REQ-22"`))
		Expect(check(requirement.Config{IDs: "REQ-[0-9]+|X"}, "XREQ-1")).To(ContainSubstring("does not match"))
		Expect(check(requirement.Config{File: "r.csv"}, "REQ-2")).To(Equal(`r.csv has no requirement "REQ-2", nearest "REQ-1"`))
	})
	It("reports a list that cannot be read and a pattern that cannot be compiled", func() {
		_, err := requirement.Config{File: "none.csv"}.Rule(GinkgoT().TempDir())
		Expect(err).To(MatchError(ContainSubstring("none.csv")))
		_, err = requirement.Config{IDs: "("}.Rule("")
		Expect(err).To(MatchError(ContainSubstring("requirements.ids is not a regular expression")))
		doc, _ := yamlsrc.Decode("rehearse.yaml", []byte("requirements:\n  ids: '('\n"), &struct{ Requirements requirement.Config }{})
		found := requirement.Config{IDs: "("}.Problems(doc, "requirements")
		Expect(found).To(HaveLen(1))
		Expect(found[0].Error()).To(HavePrefix("rehearse.yaml:2:8: requirements.ids is not a regular expression"))
	})
})

func FuzzCSV(f *testing.F) {
	for _, seed := range []string{
		"", "id\nA\n", "\ufeffid;text\r\nA;\"b;\r\nc\"\r\n;\r\n", "id,text,link\nA,\"b\"\"c\",https://x\n", "id\tlink\nA\t=1\n",
		"text\n\"", "id,id\n", "id\n\x00", "id\n\xff", ",\n,\n", "id\n-A\n", "id\rA\r",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, found := requirement.Parse("r.csv", data)
		for _, d := range found {
			if d.Error() == "" || d.Detail() == "" {
				t.Fatal("a diagnostic without a text")
			}
		}
		if len(found) > 0 {
			return
		}
		var out bytes.Buffer
		w := csv.NewWriter(&out)
		_ = w.Write([]string{"id", "text", "link"})
		for _, r := range list.Requirements {
			if requirement.CheckID(r.ID) != nil {
				t.Fatalf("the list has the id %q", r.ID)
			}
			_ = w.Write([]string{r.ID, r.Text, r.Link})
		}
		w.Flush()
		again, found := requirement.Parse("r.csv", out.Bytes())
		plain := func(list []requirement.Requirement) []requirement.Requirement {
			list = slices.Clone(list)
			for i := range list { // the CSV reader turns CR LF inside quotes into LF
				list[i].Text, list[i].Link = strings.ReplaceAll(list[i].Text, "\r\n", "\n"), strings.ReplaceAll(list[i].Link, "\r\n", "\n")
			}
			return list
		}
		if len(found) > 0 || !slices.Equal(plain(again.Requirements), plain(list.Requirements)) {
			t.Fatalf("%v\n%q\n%q", found, list.Requirements, again.Requirements)
		}
	})
}
