package prompt_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
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
			set, found := prompt.Read(files, "fr", session.French)
			Expect(found).To(BeEmpty())
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
		swapped["preamble.md"], swapped["fusion.md"] = swapped["fusion.md"], swapped["preamble.md"]
		Expect(seen).NotTo(HaveKey(hash(swapped)))
	})

	DescribeTable("rejects a folder with missing, additional or invalid files",
		func(change func(files fstest.MapFS), message string) {
			files := copyOf(session.French)
			change(files)
			_, found := prompt.Read(files, "own/fr", session.French)
			Expect(found.Error()).To(Equal("own/fr/" + message))
		},
		Entry("no manifest", func(f fstest.MapFS) { delete(f, "manifest.yaml") }, "manifest.yaml: the file is missing"),
		Entry("a text is missing", func(f fstest.MapFS) { delete(f, "mirror/BLOC_06.md") }, "mirror/BLOC_06.md: the file is missing"),
		Entry("a text is empty", func(f fstest.MapFS) { f["fusion.md"].Data = []byte(" \n") }, "fusion.md: the text is empty"),
		Entry("a text that nothing uses", func(f fstest.MapFS) { f["mirror/BLOC_10.md"] = &fstest.MapFile{Data: []byte("x")} },
			`mirror/BLOC_10.md: not a file of a prompt set; remove it (did you mean "mirror/BLOC_01.md"?)`),
		Entry("a file of another kind", func(f fstest.MapFS) { f["notes.txt"] = &fstest.MapFile{Data: []byte("x")} },
			"notes.txt: not a file of a prompt set; remove it"),
		Entry("an unknown key", func(f fstest.MapFS) {
			f["manifest.yaml"].Data = []byte("version: a\nmedia: {series: a, film: b}\nmedium: {}\n")
		},
			`manifest.yaml:3:1: unknown key "medium" (did you mean "media"?)`),
		Entry("a version that is no word", func(f fstest.MapFS) { f["manifest.yaml"].Data = []byte("version: a b\nmedia: {series: a, film: b}\n") },
			`manifest.yaml:1:10: the version must be 1 to 40 letters, digits, ".", "_", "+" and "-"`),
		Entry("half a choice", func(f fstest.MapFS) { f["fusion.md"].Data = []byte("Oui.\nDis [[tu") },
			`fusion.md:2:5: expected [[informal|formal]] after "Oui.\nDis "`),
		Entry("a choice of three", func(f fstest.MapFS) { f["fusion.md"].Data = []byte("[[a|b|c]]") },
			`fusion.md:1:1: expected [[informal|formal]] after ""`),
		Entry("a choice of one, after another", func(f fstest.MapFS) { f["fusion.md"].Data = []byte("é [[a|b]] [[c]]") },
			`fusion.md:1:11: expected [[informal|formal]] after " "`),
		Entry("a missing placeholder", func(f fstest.MapFS) { f["missing.md"].Data = []byte("Titres :") },
			"missing.md: the text lacks the placeholder {titles}"),
		Entry("an unknown placeholder", func(f fstest.MapFS) { f["missing.md"].Data = []byte("{titles} {title}") },
			`missing.md:1:10: unknown placeholder {title} (did you mean "{titles}"?)`),
		Entry("a placeholder where none is filled in", func(f fstest.MapFS) { f["profile.md"].Data = append(f["profile.md"].Data, "{job}"...) },
			"profile.md:21:1: unknown placeholder {job}"),
		Entry("a form that valid replies need", func(f fstest.MapFS) {
			f["mirror.md"].Data = bytes.ReplaceAll(f["mirror.md"].Data, []byte("2️⃣"), nil)
		}, "mirror.md: the text lacks 2️⃣, which valid replies contain"),
		Entry("a batch of one question instead of the model's", func(f fstest.MapFS) { f["fallback/questions/BLOC_03.md"].Data = []byte("Et ?") },
			"fallback/questions/BLOC_03.md: the text lacks ---QUESTION_SEPARATOR---, which valid replies contain"),
		Entry("a zone that is not forbidden", func(f fstest.MapFS) {
			f["frame.md"].Data = bytes.ReplaceAll(f["frame.md"].Data, []byte("santé"), []byte("forme"))
		}, `frame.md: the forbidden zones lack a word with "santé"`),
		Entry("a control character", func(f fstest.MapFS) { f["fusion.md"].Data = []byte("a\nb\x1b[2J") },
			"fusion.md:2:2: found a control character, or a byte that is not UTF-8"),
		Entry("a byte that is not UTF-8", func(f fstest.MapFS) { f["fusion.md"].Data = []byte("a\xff") },
			"fusion.md:1:2: found a control character, or a byte that is not UTF-8"),
		Entry("a file that is too large", func(f fstest.MapFS) { f["fusion.md"].Data = bytes.Repeat([]byte("a"), 64<<10+1) },
			"fusion.md: the file has 65537 bytes; at most 65536 are allowed"),
	)
})

var _ = Describe("Open", func() {
	words := func(text string) int { return len(strings.Fields(text)) }
	folder := func() fstest.MapFS {
		files := fstest.MapFS{}
		for _, l := range session.Languages() {
			for name, file := range copyOf(l) {
				files[string(l)+"/"+name] = file
			}
		}
		return files
	}

	It("reads what is shipped as it is shipped", func() {
		sets, err := prompt.Open(folder(), "own", words)
		Expect(err).NotTo(HaveOccurred())
		Expect(sets).To(HaveLen(2))
		for _, s := range sets {
			Expect(s.String()).To(Equal(load(s.Language).String()))
		}
	})

	It("reads one language alone", func() {
		files := folder()
		maps.DeleteFunc(files, func(name string, _ *fstest.MapFile) bool { return strings.HasPrefix(name, "fr/") })
		sets, err := prompt.Open(files, "own", words)
		Expect(err).NotTo(HaveOccurred())
		Expect(sets).To(HaveExactElements(HaveField("Language", session.English)))
	})

	It("refuses a folder without a language", func() {
		_, err := prompt.Open(fstest.MapFS{"mirror.md": {Data: []byte("x")}}, "own", words)
		Expect(err).To(MatchError(`own: no prompts; expected a folder for at least one language of ["fr" "en"]`))
	})

	It("reports all problems of all languages", func() {
		files := folder()
		delete(files, "en/fusion.md")
		files["fr/missing.md"].Data = []byte("x")
		_, err := prompt.Open(files, "own", words)
		Expect(err).To(MatchError("own/fr/missing.md: the text lacks the placeholder {titles}\nown/en/fusion.md: the file is missing"))
	})

	It("limits the tokens of each call and of each shown text, but not of the job", func() {
		files := folder()
		sizes := load(session.French).Sizes(words)
		i := slices.IndexFunc(sizes, func(s prompt.Size) bool { return s.Step == session.Block3 && s.Purpose == session.PurposeMirror })
		room := 900 - sizes[i].Frame - sizes[i].Task
		mirror := files["fr/mirror/BLOC_03.md"]
		mirror.Data = append(mirror.Data, strings.Repeat(" mot", room)...)
		_, err := prompt.Open(files, "own", words)
		Expect(err).NotTo(HaveOccurred())
		mirror.Data = append(mirror.Data, " mot"...)
		files["en/fixed/tone.md"].Data = bytes.Repeat([]byte("word "), 401)
		_, err = prompt.Open(files, "own", words)
		Expect(err).To(MatchError(ContainSubstring(
			"own/fr/fusion.md: the instructions of the call for mirror at BLOC_03 have 901 tokens (frame 229, task 672); at most 900 are allowed")))
		Expect(err).To(MatchError(ContainSubstring("own/en/fixed/tone.md: the text has 401 tokens; at most 400 are allowed")))
	})
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
		informal, at, err := prompt.Choose(text, 0)
		formal, _, other := prompt.Choose(text, 1)
		if (err == nil) != (other == nil) {
			t.Fatalf("%q can be read for one register only", text)
		}
		if err != nil && !strings.HasPrefix(text[at:], "[[") {
			t.Fatalf("the error in %q is reported at %d", text, at)
		}
		if err == nil && !strings.Contains(text, "[[") && (informal != text || formal != text) {
			t.Fatalf("%q has no choice and was changed", text)
		}
		if err == nil && len(informal)+len(formal) > 2*len(text) {
			t.Fatalf("%q grew", text)
		}
	})
}
