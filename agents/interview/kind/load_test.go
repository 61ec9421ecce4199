package kind

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const sound = `name: ada
language: en
candidate: ada-1
about: Answers.
answers:
  STEP_01_IDENTITY: [Ada]
comments:
  BLOC_01: Yes.
`

var _ = Describe("A persona's file", func() {
	It("is read", func() {
		p, err := parsePersona("ada.yaml", "ada", []byte(sound))
		Expect(err).NotTo(HaveOccurred())
		Expect(p.Answer("STEP_01_IDENTITY", 0)).To(Equal("Ada"))
		Expect(p.Answer("STEP_01_IDENTITY", -1)).To(BeEmpty())
		Expect(p.Comment("BLOC_01")).To(Equal("Yes."))
		Expect(p.Comment("BLOC_03")).To(BeEmpty())
	})

	DescribeTable("is refused with its place",
		func(name, text, want string) {
			_, err := parsePersona("ada.yaml", name, []byte(text))
			Expect(err).To(MatchError(ContainSubstring(want)))
		},
		Entry("an unknown key", "ada", sound+"coments: {}\n", `ada.yaml:9:1: unknown key "coments" (did you mean "comments"?)`),
		Entry("a missing key", "ada", "name: ada\n", `the key "answers" is missing`),
		Entry("an unknown step", "ada", sound+"  BLOC_11: Yes.\n", `ada.yaml:9:3: unknown step "BLOC_11"`),
		Entry("an unknown language", "ada", "name: ada\nlanguage: de\ncandidate: a\nabout: b\nanswers: {}\n", `ada.yaml:2:11: found`),
		Entry("another name", "eve", sound, `ada.yaml:1:7: the name must be that of the file, "eve", got "ada"`),
		Entry("an empty answer", "ada", "name: ada\nlanguage: en\ncandidate: a\nabout: b\nanswers:\n  BLOC_01: [A, ' ']\n", `ada.yaml:6:16: the answer is empty`),
		Entry("an empty comment", "ada", sound+"  BLOC_03: ''\n", `ada.yaml:9:12: the comment is empty; leave it out`),
	)
})

func FuzzParse(f *testing.F) {
	f.Add([]byte(sound))
	f.Add([]byte("answers: {BLOC_01: &a [*a]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := parsePersona("ada.yaml", "ada", data); err == nil && (p.Name != "ada" || p.Language == "") {
			t.Fatalf("a persona that should have been refused: %+v", p)
		}
	})
}
