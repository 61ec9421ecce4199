package label_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/harness/label"
)

// threeMessages has a label, which annotators must not see.
const threeMessages = `{"id":"a","text":"Next I will test it.","lang":"en","request":"Add a flag.","label":"clean","confidence":"low"}
{"text":"Done."}
{"id":"c","text":"Which one?","repo":"r"}
`

// folder has the file mine.jsonl with the messages.
func folder(messages string) (path string) {
	GinkgoHelper()
	path = filepath.Join(GinkgoT().TempDir(), "mine.jsonl")
	Expect(os.WriteFile(path, []byte(messages), 0o600)).To(Succeed())
	return path
}

func open(messages, labels string) *label.File {
	GinkgoHelper()
	f, err := label.Open(messages, labels)
	Expect(err).NotTo(HaveOccurred())
	return f
}

// current returns the ID of the message to label, or "" after the last.
func current(f *label.File) string {
	item, ok := f.Current()
	if !ok {
		return ""
	}
	return item.ID
}

func content(path string) string {
	GinkgoHelper()
	data, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	return string(data)
}

var _ = Describe("the labels of an annotator", func() {
	It("are a corpus of the messages with their labels", func() {
		messages := folder(threeMessages)
		labels := filepath.Join(filepath.Dir(messages), "mine.ada.jsonl")
		f := open(messages, labels)
		item, ok := f.Current()
		Expect(ok).To(BeTrue())
		Expect([]string{item.ID, item.Label, item.Confidence}).To(Equal([]string{"a", "", ""}))
		Expect(f.Label(detect.Defers, "medium")).To(Succeed())
		Expect(f.Label(detect.Clean, "high")).To(Succeed())
		Expect(current(f)).To(Equal("c"))
		Expect(f.Close()).To(Succeed())
		var items []detect.Item
		for item, err := range detect.ReadCorpus(strings.NewReader(content(labels)), "l", detect.Messages) {
			Expect(err).NotTo(HaveOccurred())
			items = append(items, item)
		}
		Expect(items).To(Equal([]detect.Item{
			{ID: "a", Text: "Next I will test it.", Request: "Add a flag.", Lang: "en", Label: "defers", Confidence: "medium"},
			{ID: "mine.jsonl:2", Text: "Done.", Label: "clean", Confidence: "high"},
		}))
		Expect(content(messages)).To(Equal(threeMessages))
	})

	It("continue where they stopped, also after a crash within a line", func() {
		messages := folder(threeMessages)
		labels := messages + ".labels"
		f := open(messages, labels)
		Expect(f.Label(detect.Asks, "high")).To(Succeed())
		Expect(f.Label(detect.Asks, "high")).To(Succeed())
		Expect(f.Close()).To(Succeed())
		whole := content(labels)
		first := whole[:strings.Index(whole, "\n")+1]
		for cut := len(first) + 1; cut < len(whole)-1; cut += 7 {
			Expect(os.WriteFile(labels, []byte(whole[:cut]), 0o600)).To(Succeed())
			f = open(messages, labels)
			Expect(current(f)).To(Equal("mine.jsonl:2"))
			Expect(content(labels)).To(Equal(first))
			Expect(f.Close()).To(Succeed())
		}
	})

	It("keep a last line that an editor did not end", func() {
		messages := folder(threeMessages)
		labels := messages + ".labels"
		Expect(os.WriteFile(labels, []byte(`{"id":"a","text":"Next I will test it.","label":"asks"}`), 0o600)).To(Succeed())
		f := open(messages, labels)
		Expect(f.Label(detect.Clean, "high")).To(Succeed())
		Expect(f.Counts()).To(Equal(map[string]int{"asks": 1, "clean": 1}))
		Expect(f.Close()).To(Succeed())
		Expect(strings.Count(content(labels), "\n")).To(Equal(2))
		Expect(open(messages, labels).Counts()).To(HaveLen(2))
	})

	It("are written by one process at a time", func() {
		messages := folder(threeMessages)
		f := open(messages, messages+".labels")
		_, err := label.Open(messages, messages+".labels")
		Expect(err).To(MatchError(ContainSubstring("in use by another process")))
		Expect(f.Close()).To(Succeed())
		Expect(open(messages, messages+".labels").Close()).To(Succeed())
	})

	It("return to skipped messages after the last one", func() {
		f := open(folder(threeMessages), filepath.Join(GinkgoT().TempDir(), "l"))
		f.Skip()
		Expect(current(f)).To(Equal("mine.jsonl:2"))
		Expect(f.Label(detect.Clean, "high")).To(Succeed())
		Expect(f.Label(detect.Clean, "high")).To(Succeed())
		Expect(current(f)).To(Equal("a"))
		f.Skip()
		Expect(current(f)).To(Equal("a"))
		Expect(f.Label(detect.Clean, "high")).To(Succeed())
		Expect(current(f)).To(BeEmpty())
		Expect(f.Label(detect.Clean, "high")).NotTo(Succeed())
	})

	// Any labels, undone labels, skips and restarts leave a file with one line for each label.
	It("are always the ones that were not undone", func() {
		messages := folder(strings.Repeat("{\"text\":\"Done.\"}\n", 5))
		labels := messages + ".labels"
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			_ = os.Remove(labels)
			f := open(messages, labels)
			type decision struct{ id, label string }
			var want []decision
			for range rapid.IntRange(0, 20).Draw(rt, "steps") {
				switch rapid.SampledFrom([]string{"label", "label", "undo", "skip", "restart"}).Draw(rt, "step") {
				case "label":
					if id := current(f); id != "" {
						l := rapid.SampledFrom(detect.Messages.Labels()).Draw(rt, "label")
						Expect(f.Label(l, "high")).To(Succeed())
						want = append(want, decision{id, l})
					}
				case "undo":
					undone, err := f.Undo()
					Expect(err).NotTo(HaveOccurred())
					Expect(undone).To(Equal(len(want) > 0))
					if undone {
						Expect(current(f)).To(Equal(want[len(want)-1].id))
						want = want[:len(want)-1]
					}
				case "skip":
					f.Skip()
				case "restart":
					Expect(f.Close()).To(Succeed())
					f = open(messages, labels)
				}
			}
			Expect(f.Close()).To(Succeed())
			var got []decision
			for item, err := range detect.ReadCorpus(strings.NewReader(content(labels)), "l", detect.Messages) {
				Expect(err).NotTo(HaveOccurred())
				got = append(got, decision{item.ID, item.Label})
			}
			Expect(got).To(HaveExactElements(want))
		})
	})

	DescribeTable("are refused with their position",
		func(labels, want string) {
			messages := folder(threeMessages)
			Expect(os.WriteFile(messages+".labels", []byte(labels), 0o600)).To(Succeed())
			_, err := label.Open(messages, messages+".labels")
			Expect(err).To(MatchError(ContainSubstring(want)))
			Expect(content(messages + ".labels")).To(Equal(labels))
		},
		Entry("of an unknown message", `{"id":"x","text":"","label":"asks"}`+"\n", `mine.jsonl.labels:1: the message "x" is not in`),
		Entry("of another text", `{"id":"a","text":"Now.","label":"asks"}`+"\n", "has another text"),
		Entry("of a message that is labelled twice", strings.Repeat(`{"id":"c","text":"Which one?","label":"asks"}`+"\n", 2), ":2: the message \"c\" is already labelled"),
		Entry("that do not exist", `{"id":"c","text":"Which one?","label":"maybe"}`+"\n", `"maybe" is not one of`),
		Entry("that are not JSON", "maybe\n{}", ":1: not an item"),
	)

	DescribeTable("need readable messages",
		func(messages, want string) {
			path := folder(messages)
			_, err := label.Open(path, path+".labels")
			Expect(err).To(MatchError(ContainSubstring(want)))
			Expect(path + ".labels").NotTo(BeAnExistingFile())
		},
		Entry("without bad lines", "{\"text\":\"x\"}\n{}\n7", "mine.jsonl:2: text is missing\nmine.jsonl:3: not an item"),
		Entry("at least one", "\n", "no messages"),
		Entry("with different IDs", strings.Repeat(`{"id":"a","text":"x"}`+"\n", 2), "already used in line 1"),
	)

	It("have a file beside the messages", func() {
		for annotator, want := range map[string]string{"": "d/mine.labels.jsonl", "ada": "d/mine.ada.jsonl", "B-2_x": "d/mine.B-2_x.jsonl"} {
			Expect(label.Path("d/mine.jsonl", annotator)).To(Equal(want))
		}
		Expect(label.Path("mine", "ada")).To(Equal("mine.ada"))
		for _, bad := range []string{"../x", "a/b", "a b", ".", "-a", "é", "a\n", strings.Repeat("a", 41)} {
			_, err := label.Path("mine.jsonl", bad)
			Expect(err).To(MatchError(ContainSubstring("annotator")), bad)
		}
	})
})

// FuzzLabels opens any bytes as a file of labels. If they are accepted, a label can be added, and
// all labels are there afterwards.
func FuzzLabels(f *testing.F) {
	f.Add([]byte("{\"id\":\"c\",\"text\":\"Which one?\",\"label\":\"asks\"}\n\n{\"id\":\"a\""))
	f.Add([]byte("{\"id\":\"c\",\"text\":\"Which one?\",\"label\":\"asks\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		messages := filepath.Join(t.TempDir(), "mine.jsonl")
		labels := messages + ".labels"
		for path, content := range map[string][]byte{messages: []byte(threeMessages), labels: data} {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		file, err := label.Open(messages, labels)
		if err != nil {
			return
		}
		before, _, _ := file.Progress()
		if before == 3 {
			_ = file.Close()
			return
		}
		if err := errors.Join(file.Label(detect.Asks, "low"), file.Close()); err != nil {
			t.Fatal(err)
		}
		if file, err = label.Open(messages, labels); err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if after, _, _ := file.Progress(); after != before+1 {
			t.Fatalf("%d labels, then %d", before, after)
		}
	})
}
