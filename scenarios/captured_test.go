package scenarios_test

import (
	"strings"
	"testing/fstest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/mocks/tape"
	"github.com/rehearse-dev/rehearse/scenarios"
)

var _ = Describe("a script in a file of its own", func() {
	const using = "name: a/b\ndrive: {loop: {prompt: x}}\nbackend: {script: s/captured.yaml%}\nexpect: {status: done}\n"
	read := func(backend, script string, more fstest.MapFS) (scenarios.Scenario, scenarios.Diagnostics) {
		files := fstest.MapFS{"s/captured.yaml": {Data: []byte(script)}, "s/a.txt": {Data: []byte("from a file")}}
		for name, file := range more {
			files[name] = file
		}
		text := []byte(strings.ReplaceAll(using, "%", backend))
		return scenarios.Parse("x.yaml", text, files, scenarios.Options{Kinds: kinds.All().Formats()})
	}

	It("stands in the place of the backend's lines, with the files that it names itself", func() {
		sc, found := read("", "model: gpt-4.1-mini\nreplies: [{text: one}, {file: a.txt}]\n", nil)
		Expect(found.Err()).NotTo(HaveOccurred())
		Expect(sc.Backend.Model).To(Equal("gpt-4.1-mini"))
		Expect(sc.Backend.Replies).To(HaveLen(2))
		Expect(sc.Backend.Replies[1].Text.String()).To(Equal("from a file"))
		other, found := read(", model: gpt-5", "model: gpt-4.1-mini\nreplies: [{text: two}, {file: a.txt}]\n", nil)
		Expect(found.Err()).NotTo(HaveOccurred())
		Expect(other.Backend.Model).To(Equal("gpt-5"))
		Expect(other.Digest).NotTo(Equal(sc.Digest))
	})

	It("is a part of the scenario's digest, with its files and captured answers", func() {
		script := "model: gpt-4.1-mini\nreplies: [{frames: {file: t.jsonl, exchange: 1}}]\n"
		digest := func(gap time.Duration, answer string) string {
			file, err := tape.AppendHeader(nil, tape.Header{Date: clock.Epoch})
			Expect(err).NotTo(HaveOccurred())
			file, err = tape.AppendExchange(file, tape.Exchange{
				N: 1, Protocol: "openai-chat", Status: 200, ContentType: "application/json",
				Body: []byte(`{"id":"c","choices":[{"message":{"content":"` + answer + `"},"finish_reason":"stop"}]}`), Frames: []tape.Frame{{Gap: gap, Bytes: 73}},
			})
			Expect(err).NotTo(HaveOccurred())
			sc, found := read("", script, fstest.MapFS{"s/t.jsonl": {Data: file}})
			Expect(found.Err()).NotTo(HaveOccurred())
			Expect(sc.Backend.Replies[0].Frames.Captured()).NotTo(BeNil())
			return sc.Digest
		}
		Expect(digest(1, "x")).To(Equal(digest(1, "x")))
		Expect(digest(1, "x")).NotTo(Or(Equal(digest(2, "x")), Equal(digest(1, "y"))))
		one, _ := read("", "replies: [{text: one}]", nil)
		two, _ := read("", "replies: [{text: two}]", nil)
		Expect(one.Digest).NotTo(Equal(two.Digest))
		was, _ := read("", "replies: [{file: a.txt}]", nil)
		is, _ := read("", "replies: [{file: a.txt}]", fstest.MapFS{"s/a.txt": {Data: []byte("changed")}})
		Expect(is.Digest).NotTo(Equal(was.Digest))
	})

	DescribeTable("is refused, with the place in the file that is wrong",
		func(backend, script, want string) {
			_, found := read(backend, script, nil)
			Expect(found.Err()).To(MatchError(ContainSubstring(want)))
		},
		Entry("lines beside it", ", replies: [{text: x}]", "replies: [{text: y}]", `x.yaml:3:19: the script is in the file "s/captured.yaml"; remove replies, rules and state here, or the file`),
		Entry("an unknown key in it", "", "model: gpt-5\nreplies: [{txt: y}]", `s/captured.yaml:2:12: unknown key "txt"`),
		Entry("a line that is none", "", "model: gpt-5\nreplies: [{times: 2}]", "s/captured.yaml:2:11: the line has neither an answer"),
		Entry("a file that it names", "", "model: gpt-5\nreplies: [{file: b.txt}]", "s/captured.yaml:2:18: "),
		Entry("captured answers that are not there", "", "model: gpt-5\nreplies: [{frames: {file: t.jsonl, exchange: 1}}]", "s/captured.yaml:2:"),
		Entry("no YAML", "", "{", "s/captured.yaml:"),
	)

	It("cannot be outside of the folder, nor be missing", func() {
		for name, want := range map[string]string{
			"../captured.yaml": "must be a relative path", "/etc/passwd": "must be a relative path", "s": "not a regular file",
			"s/captued.yaml": `did you mean "s/captured.yaml"`,
		} {
			_, found := scenarios.Parse("x.yaml", []byte(strings.ReplaceAll(strings.ReplaceAll(using, "%", ""), "s/captured.yaml", name)),
				fstest.MapFS{"s/captured.yaml": {}}, scenarios.Options{Kinds: kinds.All().Formats()})
			Expect(found.Err()).To(MatchError(ContainSubstring(want)), name)
		}
	})
})
