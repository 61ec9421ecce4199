package prompt_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/fixtures"
)

// copyOf returns the shipped set of a language as files that a spec may change.
func copyOf(l session.Language) fstest.MapFS {
	GinkgoHelper()
	files := fstest.MapFS{}
	root := "prompts/" + string(l)
	err := fs.WalkDir(fixtures.Prompts, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fixtures.Prompts, name)
		files[strings.TrimPrefix(name, root+"/")] = &fstest.MapFile{Data: data}
		return err
	})
	Expect(err).NotTo(HaveOccurred())
	return files
}

const versions = "testdata/versions.txt"

var _ = Describe("Load", func() {
	It("reads a set once", func() {
		Expect(load(session.English)).To(BeIdenticalTo(load(session.English)))
		Expect(load(session.English).Language).To(Equal(session.English))
		Expect(load(session.French).Language).To(Equal(session.French))
	})

	It("names a language that it does not have", func() {
		_, err := prompt.Load("de")
		Expect(err).To(MatchError(`no prompts for language "de"; available: [fr en]`))
	})

	// Recordings name the version; if it stood for two texts, they would lie.
	It("has one text for each version: increase it in manifest.yaml, then run with -update", func() {
		data, err := os.ReadFile(versions)
		Expect(err).NotTo(HaveOccurred())
		hashes := map[string]string{}
		for line := range strings.Lines(string(data)) {
			version, hash, _ := strings.Cut(strings.TrimSpace(line), " ")
			Expect(hashes).NotTo(HaveKey(version))
			hashes[version] = hash
		}
		for _, l := range session.Languages() {
			set := load(l)
			Expect(set.Version).To(HavePrefix(string(l) + "-"))
			if _, known := hashes[set.Version]; !known && *update {
				data = fmt.Appendf(data, "%s %s\n", set.Version, set.Hash)
				Expect(os.WriteFile(versions, data, 0o644)).To(Succeed())
				continue
			}
			Expect(hashes).To(HaveKeyWithValue(set.Version, set.Hash), "the texts have changed, their version has not")
			Expect(set.String()).To(Equal(set.Version + "@" + set.Hash[:12]))
		}
	})

	It("has another hash for each change of a name or a byte", func() {
		hash := func(files fs.FS) string {
			set, err := prompt.Read(files, session.French)
			Expect(err).NotTo(HaveOccurred())
			return set.Hash
		}
		files := copyOf(session.French)
		Expect(hash(files)).To(Equal(load(session.French).Hash))
		seen := map[string]string{hash(files): "nothing"}
		for name := range files {
			changed := copyOf(session.French)
			changed[name].Data = append(changed[name].Data, '\n')
			h := hash(changed)
			Expect(seen).NotTo(HaveKey(h), name)
			seen[h] = name
		}
		swapped := copyOf(session.French)
		swapped["job.md"], swapped["fusion.md"] = swapped["fusion.md"], swapped["job.md"]
		Expect(seen).NotTo(HaveKey(hash(swapped)))
	})

	DescribeTable("rejects a folder with missing, additional or invalid files",
		func(change func(files fstest.MapFS), message string) {
			files := copyOf(session.French)
			change(files)
			_, err := prompt.Read(files, session.French)
			Expect(err).To(MatchError(ContainSubstring(message)))
			Expect(err).To(MatchError(ContainSubstring(`read the prompts in "fr"`)))
		},
		Entry("no manifest", func(f fstest.MapFS) { delete(f, "manifest.yaml") }, "manifest.yaml is missing"),
		Entry("a text is missing", func(f fstest.MapFS) { delete(f, "mirror/BLOC_06.md") }, "mirror/BLOC_06.md is missing or empty"),
		Entry("a text is empty", func(f fstest.MapFS) { f["job.md"].Data = []byte(" \n") }, "job.md is missing or empty"),
		Entry("a text that nothing uses", func(f fstest.MapFS) { f["mirror/BLOC_10.md"] = &fstest.MapFile{Data: []byte("x")} },
			"mirror/BLOC_10.md is not a file of a prompt set"),
		Entry("a file of another kind", func(f fstest.MapFS) { f["job.txt"] = &fstest.MapFile{Data: []byte("x")} },
			"job.txt is not a file of a prompt set"),
		Entry("a text without its ending", func(f fstest.MapFS) { f["job"] = &fstest.MapFile{Data: []byte("x")} },
			"job is not a file of a prompt set"),
		Entry("an unknown key", func(f fstest.MapFS) { f["manifest.yaml"].Data = []byte("version: a\nmedium: {}\n") }, "medium"),
		Entry("half a choice", func(f fstest.MapFS) { f["job.md"].Data = []byte("Dis [[tu") }, `job.md: expected [[informal|formal]] after "Dis "`),
		Entry("a choice without end", func(f fstest.MapFS) { f["job.md"].Data = []byte("[[a|b") }, "expected [[informal|formal]]"),
		Entry("a choice of one", func(f fstest.MapFS) { f["job.md"].Data = []byte("Dis [[tu]]") }, `after "Dis "`),
		Entry("a choice of three", func(f fstest.MapFS) { f["job.md"].Data = []byte("[[a|b|c]]") }, "expected [[informal|formal]]"),
	)
})

var _ = Describe("Fixed", func() {
	It("has its texts in each language and register", func() {
		var b strings.Builder
		for _, l := range session.Languages() {
			for _, r := range []session.Register{session.Informal, session.Formal} {
				for _, f := range session.FixedTexts() {
					fmt.Fprintf(&b, "--- %s %s %s\n%s\n", l, r, f, load(l).Fixed(f, r))
				}
			}
		}
		golden("fixed.golden", b.String())
	})

	It("is formal until the candidate has chosen", func() {
		set := load(session.French)
		Expect(set.Fixed("medium_again", "")).To(Equal(set.Fixed("medium_again", session.Formal)))
		Expect(set.Fixed("medium_again", session.Informal)).NotTo(Equal(set.Fixed("medium_again", session.Formal)))
	})

	It("asks one thing, and nothing where the question follows", func() {
		for _, l := range session.Languages() {
			for _, f := range session.FixedTexts() {
				questions := 1
				if f == "medium_again" {
					questions = 0
				}
				Expect(strings.Count(load(l).Fixed(f, session.Formal), "?")).To(Equal(questions), "%s %s", l, f)
			}
		}
	})

	It("offers a choice of tone that can be answered by letter or in the words of the option", func() {
		for _, l := range session.Languages() {
			for _, f := range []session.Fixed{"tone", "tone_again"} {
				_, options, _ := strings.Cut(load(l).Fixed(f, ""), "\n")
				for i, option := range strings.Split(options, "\n") {
					letter, words, _ := strings.Cut(option, ". ")
					for _, answer := range []string{letter, words} {
						move, err := session.Next(session.Session{Step: session.Tone, Phase: session.Asking}, session.Answered{Text: answer}, time.Time{})
						Expect(err).NotTo(HaveOccurred())
						Expect(move.Session.Register).To(Equal([]session.Register{session.Informal, session.Formal}[i]), "%s: %q", l, answer)
					}
				}
			}
		}
	})
})

func FuzzChoose(f *testing.F) {
	for _, seed := range []string{"", "plain", "a [[b|c]] d", "[[|]]", "[[a", "[[a|b|c]]", "]]", "[[[a|b]]]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		informal, err := prompt.Choose(text, 0)
		formal, other := prompt.Choose(text, 1)
		if (err == nil) != (other == nil) {
			t.Fatalf("%q can be read for one register only", text)
		}
		if err == nil && !strings.Contains(text, "[[") && (informal != text || formal != text) {
			t.Fatalf("%q has no choice and was changed", text)
		}
		if err == nil && len(informal)+len(formal) > 2*len(text) {
			t.Fatalf("%q grew", text)
		}
	})
}
