package record_test

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
)

var _ = Describe("a recording", Label("H-05"), func() {
	It("round-trips every field of every type", func() {
		var (
			run   record.Run
			sc    record.Scenario
			trial record.Trial
			last  record.Close
		)
		for _, v := range []any{&run, &sc, &trial, &last} {
			full(reflect.ValueOf(v).Elem(), "text <&> é")
		}
		run.Schema = record.Schema
		sc.Name = trial.Head.Scenario
		sc.Expect.Cost.AtLeast.Currency, sc.Expect.Cost.AtMost.Currency = "EUR", "USD"
		trial.Messages[0].ID = "m1"
		trial.Calls[0].Messages, trial.Calls[0].Reply = []string{"m1"}, "m1"

		var b bytes.Buffer
		w, err := record.NewWriter(&b, run)
		Expect(err).NotTo(HaveOccurred())
		Expect(w.Scenario(sc)).To(Succeed())
		encoded, err := record.Encode(trial)
		Expect(err).NotTo(HaveOccurred())
		Expect(w.Trial(encoded)).To(Succeed())
		Expect(w.Close(last)).To(Succeed())

		got := readAll(&b)
		Expect(got.err).NotTo(HaveOccurred())
		Expect(got.problems).To(BeEmpty())
		Expect(cmp.Diff(run, *got.run)).To(BeEmpty())
		Expect(cmp.Diff(sc, got.scenarios[0])).To(BeEmpty())
		Expect(cmp.Diff(trial, got.trials[0])).To(BeEmpty())
		Expect(cmp.Diff(last, *got.close)).To(BeEmpty())
	})

	It("has the same bytes for the same trials, without HTML escaping", func() {
		Expect(recording()).To(Equal(recording()))
		t := sample(1)
		t.End.Text = "<b>&"
		encoded, err := record.Encode(t)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(encoded)).To(ContainSubstring(`"text":"<b>&"`))
	})

	It("has lines that begin with hash, number and type", func() {
		for i, line := range strings.Split(strings.TrimSpace(recording()), "\n") {
			Expect(line).To(MatchRegexp(`^\{"hash":"[0-9a-f]{32}","seq":%d,"type":"[a-z]+"`, i+1))
		}
	})

	It("stores text that is not UTF-8 without failing", func() {
		t := sample(1)
		t.Messages[1].Content = "a\xffb"
		var b bytes.Buffer
		Expect(write(&b, t)).To(Succeed())
		Expect(readAll(&b).trials[0].Messages[1].Content).To(Equal("a\uFFFDb"))
	})

	It("round-trips any messages", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			t := sample(1)
			t.Messages[0].Content = rapid.String().Draw(rt, "content")
			t.Messages[1].ToolCalls = rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) llm.ToolCall {
				return llm.ToolCall{ID: rapid.String().Draw(rt, "id"), Arguments: rapid.String().Draw(rt, "arguments")}
			}), 1, 3).Draw(rt, "calls")
			var b bytes.Buffer
			if err := write(&b, t); err != nil {
				rt.Fatal(err)
			}
			if diff := cmp.Diff([]record.Trial{t}, readAll(&b).trials); diff != "" {
				rt.Fatal(diff)
			}
		})
	})
})

var _ = Describe("Writer", func() {
	It("returns the error of a full disk from then on", func() {
		w, err := record.NewWriter(&limited{left: 4000}, record.Run{})
		Expect(err).NotTo(HaveOccurred())
		encoded, err := record.Encode(sample(1))
		Expect(err).NotTo(HaveOccurred())
		for err == nil {
			err = w.Trial(encoded)
		}
		Expect(err).To(MatchError(ContainSubstring("no space")))
		Expect(w.Close(record.Close{})).To(MatchError(ContainSubstring("no space")))
	})

	It("passes on a trial in one write, so that a kill leaves whole trials", func() {
		var out counting
		w, err := record.NewWriter(&out, record.Run{})
		Expect(err).NotTo(HaveOccurred())
		encoded, err := record.Encode(sample(1))
		Expect(err).NotTo(HaveOccurred())
		Expect(w.Trial(encoded)).To(Succeed())
		Expect(out.writes).To(Equal(2)) // run, trial
	})

	It("rejects text that is not from Encode, and everything after the close", func() {
		w, err := record.NewWriter(&counting{}, record.Run{})
		Expect(err).NotTo(HaveOccurred())
		Expect(w.Close(record.Close{})).To(Succeed())
		Expect(w.Close(record.Close{})).To(MatchError("the recording is closed"))

		w, err = record.NewWriter(&counting{}, record.Run{})
		Expect(err).NotTo(HaveOccurred())
		Expect(w.Trial([]byte("{\"n\":1}\n"))).To(MatchError(ContainSubstring("not one that Encode returned")))
	})
})

// limited is a disk with little space.
type limited struct{ left int }

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.left {
		return 0, errors.New("no space left on device")
	}
	l.left -= len(p)
	return len(p), nil
}

type counting struct{ writes int }

func (c *counting) Write(p []byte) (int, error) {
	c.writes++
	return len(p), nil
}

var _ = Describe("Read", func() {
	It("delivers run, scenario, trials and close in order", func() {
		got := readAll(strings.NewReader(recording()))
		Expect(got.err).NotTo(HaveOccurred())
		Expect(got.problems).To(BeEmpty())
		Expect(got.run.ID).To(Equal("r1"))
		Expect(got.scenarios).To(HaveLen(1))
		Expect(cmp.Diff([]record.Trial{sample(1), sample(2), sample(3)}, got.trials)).To(BeEmpty())
		Expect(got.close.Trials).To(Equal(3))
	})

	It("stops when the caller does", func() {
		n := 0
		for range record.Read(strings.NewReader(recording())) {
			n++
			if n == 2 {
				break
			}
		}
		Expect(n).To(Equal(2))
	})

	// Line 1 is the run, 2 the scenario; trial 1 has lines 3 (head) to 11 (end),
	// trial 2 lines 12 to 20, trial 3 lines 21 to 29; line 30 is the close.
	DescribeTable("delivers the rest of a damaged recording",
		func(damage func(lines []string) []string, trials int, problems ...string) {
			text := strings.Join(damage(strings.SplitAfter(recording(), "\n")[:30]), "")
			got := readAll(strings.NewReader(text))
			Expect(got.err).NotTo(HaveOccurred())
			Expect(got.trials).To(HaveLen(trials))
			Expect(got.problems).To(HaveLen(len(problems)))
			for i, p := range problems {
				Expect(got.problems[i]).To(ContainSubstring(p))
			}
		},
		Entry("a torn last line", func(l []string) []string { l[29] = l[29][:20]; return l }, 3,
			"line 30: the last line is torn", "has no close line"),
		Entry("killed within a trial", func(l []string) []string { return l[:25] }, 2,
			"line 21: trial 3 of loop/done has no end", "has no close line"),
		Entry("no close line", func(l []string) []string { return l[:29] }, 3, "line 29: the recording has no close line"),
		Entry("a line of garbage", func(l []string) []string { l[13] = "garbage\n"; return l }, 2,
			"line 14: this is not a line of a recording", "line 12: trial 2 of loop/done is left out: its line 14"),
		Entry("a member of a wrong type", func(l []string) []string {
			l[14] = strings.Replace(l[14], `"n":1`, `"n":"x"`, 1)
			return l
		}, 2, "line 15: the line cannot be decoded", "line 12: trial 2 of loop/done is left out"),
		Entry("a missing message", func(l []string) []string { return append(l[:12:12], l[13:]...) }, 2,
			`line 12: trial 2 of loop/done is left out: call 1 refers to the message "m1"`),
		Entry("no head", func(l []string) []string { return append(l[:11:11], l[12:]...) }, 2,
			`line 12: a line of type "message" is outside a trial`),
		Entry("no end", func(l []string) []string { return append(l[:10:10], l[11:]...) }, 2,
			"line 3: trial 1 of loop/done has no end"),
		Entry("an unknown type", func(l []string) []string {
			l[9] = strings.Replace(l[9], `"type":"script"`, `"type":"mood"`, 1)
			return l
		}, 3, `line 10: unknown line type "mood"`),
		Entry("no scenario", func(l []string) []string { return append(l[:1:1], l[2:]...) }, 3,
			`the trial's scenario "loop/done" was not recorded`,
			`the trial's scenario "loop/done" was not recorded`,
			`the trial's scenario "loop/done" was not recorded`),
		Entry("a second run", func(l []string) []string {
			other := strings.NewReplacer("rehearse.recording/1", "rehearse.recording/9", "loop/done", "loop/other")
			joined := l
			for _, line := range l {
				joined = append(joined, other.Replace(line))
			}
			return joined
		}, 3, `schema "rehearse.recording/9"`),
		Entry("a second run within a trial of the first", func(l []string) []string { return append(l[:25:25], l...) }, 2,
			"line 21: trial 3 of loop/done has no end", "line 26: a second run begins here", "has no close line"),
	)

	DescribeTable("rejects other input",
		func(text, message string) {
			got := readAll(strings.NewReader(text))
			Expect(got.err).To(MatchError(ContainSubstring(message)))
			Expect(got.trials).To(BeEmpty())
		},
		Entry("nothing", "", "the recording is empty"),
		Entry("another file", "%PDF-1.7\n", "is this the right file?"),
		Entry("another version", strings.Replace(recording(), "recording/1", "recording/2", 1), `"rehearse.recording/2"`),
		Entry("a recording without its run", strings.SplitN(recording(), "\n", 2)[1], `begins with a line of type "run"`),
	)

	It("returns an error of the file", func() {
		broken := iotest.ErrReader(errors.New("disk on fire"))
		Expect(readAll(broken).err).To(MatchError(ContainSubstring("disk on fire")))
		_, err := record.Verify(broken)
		Expect(err).To(MatchError(ContainSubstring("disk on fire")))
	})

	It("skips a line beyond the limit without storing it", func() {
		lines := strings.SplitAfter(recording(), "\n")
		long := strings.Repeat("x", 64<<20) + "\n"
		got := readAll(strings.NewReader(strings.Join(lines[:5], "") + long + strings.Join(lines[5:], "")))
		Expect(got.problems).To(ContainElement("line 6: the line is longer than 64 MB"))
		Expect(got.trials).To(HaveLen(2))
	})
})
