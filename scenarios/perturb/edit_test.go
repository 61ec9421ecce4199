package perturb_test

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

var edits = []string{perturb.TextTruncated, perturb.TextReformat, perturb.TextTranslated, perturb.TextPadded}

func edit(kind, text string) string {
	return perturb.Perturbation{At: perturb.Call, N: 1, Do: kind}.Edit()(text)
}

var _ = Describe("an edit of an answer's text", Label("H-04"), func() {
	DescribeTable("makes of it",
		func(kind, text, want string) { Expect(edit(kind, text)).To(Equal(want)) },
		Entry("half of it", perturb.TextTruncated, "All tests pass. DONE", "All tests "),
		Entry("half of it, in whole characters", perturb.TextTruncated, "日本語!", "日"),
		Entry("nothing of a character", perturb.TextTruncated, "é", ""),
		Entry("half of JSON, which is none", perturb.TextTruncated, `{"done": true}`, `{"done"`),
		Entry("the same words, set otherwise", perturb.TextReformat,
			"He said \"it's done\" ...\n- one  \n- two", "**He said “it’s done” …**  \r\n\r\n- one  \r\n\r\n- two  \r\n"),
		Entry("a heading that stays one", perturb.TextReformat, "# Title\ntext", "# Title  \r\n\r\ntext  \r\n"),
		Entry("JSON in a fence", perturb.TextReformat, `{"a":[1,"x y"]}`, "```json\n{\n\t\"a\": [\n\t\t1,\n\t\t\"x y\"\n\t]\n}\n```\n"),
		Entry("deep JSON in a fence", perturb.TextReformat, strings.Repeat("[", 11)+strings.Repeat("]", 11),
			"```json\n"+strings.Repeat("[", 11)+strings.Repeat("]", 11)+"\n```\n"),
		Entry("words of another language", perturb.TextTranslated, "Hello, hello!\n1. World", "Φως, φως!\n1. Ουρανός"),
		Entry("capitals", perturb.TextTranslated, "DONE a", "ΧΡΌΝΟΣ νερό"),
		Entry("names as they are", perturb.TextTranslated, "TASK_COMPLETE v2 h264", "TASK_COMPLETE v2 h264"),
		Entry("JSON with the names of its members", perturb.TextTranslated,
			`{"say": "hello", "n": [1, true, null, "hello"], "in": {"hello": "hello"}}`,
			`{"say":"φως","n":[1,true,null,"φως"],"in":{"hello":"φως"}}`),
		Entry("what is no JSON", perturb.TextTranslated, `{"hello": "hello"`, `{"φως": "φως"`),
	)

	It("is none where the perturbation is another", func() {
		for _, text := range []string{"call=1:hang", "call=1:latency,first=1s", "turn=1:double", "write=1:disk-full"} {
			Expect(parse(text).Edit()).To(BeNil(), text)
		}
	})

	It("leaves the answer whole inside the padding", func() {
		padded := edit(perturb.TextPadded, "All tests pass. DONE")
		Expect(padded).To(ContainSubstring("\n\nAll tests pass. DONE\n\n"))
		Expect(padded).NotTo(HavePrefix("All tests"))
		Expect(padded).NotTo(HaveSuffix("DONE"))
	})

	It("leaves only the padding of a text without content", func() {
		for _, kind := range edits[:3] {
			Expect(edit(kind, "")).To(BeEmpty())
		}
		Expect(edit(perturb.TextReformat, " \n ")).To(Equal(" \n "))
	})

	It("is bounded, repeatable and as good as UTF-8 as what it is made of", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			nested := rapid.Custom(func(t *rapid.T) string {
				n := rapid.IntRange(1, 3000).Draw(t, "depth")
				return strings.Repeat("[", n) + strings.Repeat("]", n)
			})
			text := rapid.OneOf(rapid.String(), nested, rapid.StringMatching(`([a-z] ){0,50}`), rapid.Custom(func(t *rapid.T) string {
				return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
			})).Draw(t, "text")
			for _, kind := range edits {
				got := edit(kind, text)
				if got != edit(kind, text) {
					t.Fatalf("%s is not repeatable", kind)
				}
				if len(got) > 16*len(text)+2000 {
					t.Fatalf("%s makes %d bytes of %d", kind, len(got), len(text))
				}
				if utf8.ValidString(text) && !utf8.ValidString(got) {
					t.Fatalf("%s breaks UTF-8: %q", kind, got)
				}
			}
		})
	})

	It("keeps the words when it sets a text otherwise, and JSON the same", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			words := rapid.SliceOfN(rapid.StringMatching(`[a-zé0-9]{1,8}`), 1, 20).Draw(t, "words")
			text := strings.Join(words, rapid.SampledFrom([]string{" ", "\n", "  \n"}).Draw(t, "blank"))
			got := strings.Fields(strings.NewReplacer("*", "", "```json", "", "```", "").Replace(edit(perturb.TextReformat, text)))
			Expect(got).To(Equal(words))
			data, err := json.Marshal(words)
			Expect(err).NotTo(HaveOccurred())
			var back []string
			fenced := edit(perturb.TextReformat, string(data))
			Expect(json.Unmarshal([]byte(strings.Trim(fenced, "`json\n")), &back)).To(Succeed())
			Expect(back).To(Equal(words))
		})
	})
})
