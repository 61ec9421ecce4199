package record_test

import (
	"bytes"
	"errors"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/record"
)

var _ = Describe("an index of a recording", Label("H-05"), func() {
	It("reads each trial as the whole recording has it, however the file grew", func() {
		text := recording()
		want := readAll(strings.NewReader(text))
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			var ix record.Index
			for at := 0; at < len(text); {
				at += rapid.IntRange(1, len(text)-at).Draw(t, "grown by")
				err := ix.Update(strings.NewReader(text), int64(at))
				if err != nil && !errors.Is(err, record.ErrEmpty) {
					t.Fatal(err)
				}
			}
			Expect(ix.Run()).To(Equal(*want.run))
			Expect(ix.Closed()).To(Equal(want.close))
			Expect(ix.Scenarios()).To(HaveLen(1))
			Expect(ix.Scenarios()[0].Trials).To(Equal([]int{1, 2, 3}))
			n := rapid.IntRange(1, 3).Draw(t, "trial")
			sc, trial, problems, err := ix.ReadTrial(strings.NewReader(text), "loop/done", n)
			Expect(err).NotTo(HaveOccurred())
			Expect(problems).To(BeEmpty())
			Expect(sc).To(Equal(want.scenarios[0]))
			Expect(*trial).To(Equal(want.trials[n-1]))
		})
	})

	It("knows only what is complete", func() {
		text := recording()
		cut := strings.LastIndex(text[:strings.LastIndex(text, `"type":"end"`)], "\n") + 10 // inside the end of trial 3
		var ix record.Index
		Expect(ix.Update(strings.NewReader(text[:cut]), int64(cut))).To(Succeed())
		Expect(ix.Trials()).To(Equal(2))
		Expect(ix.Closed()).To(BeNil())
		_, _, _, err := ix.ReadTrial(strings.NewReader(text), "loop/done", 3)
		Expect(err).To(MatchError(record.ErrNoTrial))
		_, _, _, err = ix.ReadTrial(strings.NewReader(text), "other", 1)
		Expect(err).To(MatchError(record.ErrNoTrial))
		_, err = ix.ReadScenario(strings.NewReader(text), "other")
		Expect(err).To(MatchError(record.ErrNoTrial))
	})

	It("reports a damaged line of a trial with its number, and reads the others", func() {
		text := recording()
		lines := strings.SplitAfter(text, "\n")
		lines[13] = "garbage\n" // in trial 2
		text = strings.Join(lines, "")
		var ix record.Index
		Expect(ix.Update(strings.NewReader(text), int64(len(text)))).To(Succeed())
		_, trial, problems, err := ix.ReadTrial(strings.NewReader(text), "loop/done", 2)
		Expect(err).NotTo(HaveOccurred())
		Expect(trial).To(BeNil())
		var got []string
		for _, p := range problems {
			got = append(got, p.String())
		}
		Expect(got).To(Equal(readAll(strings.NewReader(text)).problems))
		_, trial, _, err = ix.ReadTrial(strings.NewReader(text), "loop/done", 3)
		Expect(err).NotTo(HaveOccurred())
		Expect(trial.Head.N).To(Equal(3))
	})

	It("leaves out trials that do not follow, and a second recording", func() {
		var b bytes.Buffer
		Expect(write(&b, sample(2), sample(1), sample(2), sample(3))).To(Succeed())
		text := b.String() + recording()
		var ix record.Index
		Expect(ix.Update(strings.NewReader(text), int64(len(text)))).To(Succeed())
		Expect(ix.Scenarios()[0].Trials).To(Equal([]int{2, 3}))
	})

	It("refuses what Read refuses", func() {
		for text, message := range map[string]string{
			"": "", "hello\n": "line 1: this is not a line of a recording",
			strings.Replace(recording(), "rehearse.recording/1", "rehearse.recording/9", 1): `the schema is "rehearse.recording/9"`,
		} {
			var ix record.Index
			err := ix.Update(strings.NewReader(text), int64(len(text)))
			if text == "" {
				Expect(err).To(MatchError(record.ErrEmpty))
				continue
			}
			Expect(err).To(MatchError(ContainSubstring(message)))
		}
		var ix record.Index
		Expect(ix.Update(strings.NewReader("{\"hash"), 6)).To(MatchError(record.ErrEmpty))
	})

	It("begins anew in a file that was replaced", func() {
		text := recording()
		var ix, fresh record.Index
		Expect(ix.Update(strings.NewReader(text), int64(len(text)))).To(Succeed())
		var b bytes.Buffer
		Expect(write(&b, sample(1), sample(2), sample(4), sample(5), sample(6))).To(Succeed())
		for _, other := range []string{b.String(), text, text[:len(text)/2]} { // longer, shorter, cut off
			Expect(ix.Update(strings.NewReader(other), int64(len(other)))).To(Succeed())
			fresh = record.Index{}
			Expect(fresh.Update(strings.NewReader(other), int64(len(other)))).To(Succeed())
			Expect(ix.Scenarios()).To(Equal(fresh.Scenarios()))
			Expect(ix.Closed()).To(Equal(fresh.Closed()))
		}
	})

	It("reports a file that was replaced by a shorter one", func() {
		text := recording()
		var ix record.Index
		Expect(ix.Update(strings.NewReader(text), int64(len(text)))).To(Succeed())
		_, _, _, err := ix.ReadTrial(strings.NewReader(text[:300]), "loop/done", 3)
		Expect(err).To(HaveOccurred())
	})
})
