package experiment_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/redact"
)

var _ = Describe("the answers of an experiment", Label("L-01"), func() {
	stored := func(folder string) map[string]string {
		GinkgoHelper()
		data, err := os.ReadFile(filepath.Join(folder, experiment.AnswersFile))
		Expect(err).NotTo(HaveOccurred())
		texts := map[string]string{}
		for line := range bytes.Lines(data) {
			var a struct{ Hash, Text string }
			Expect(json.Unmarshal(line, &a)).To(Succeed())
			Expect(texts).NotTo(HaveKey(a.Hash), "each answer is stored once")
			texts[a.Hash] = a.Text
		}
		return texts
	}

	It("are stored once each, and shown for the pairs that decided", func() {
		folder := GinkgoT().TempDir()
		res := run(first, journal(filepath.Join(folder, "journal.jsonl")))
		texts := stored(folder)
		Expect(len(texts)).To(BeNumerically("<=", 4), "it ends, looks and ends, looks twice: %v", texts)

		shown := comparison(res, "good", "old", "pass").Shown
		by := map[string]int{}
		for _, p := range shown {
			by[p.Scenario]++
			for _, side := range []result.Side{p.Before, p.After} {
				Expect(side.Text).To(Equal(texts[side.Hash]))
				Expect(side.Text).NotTo(BeEmpty())
				passed := *side.Value > 0.5
				Expect(passed).To(Equal(strings.HasSuffix(side.Text, "DONE")), "the answer explains the verdict")
			}
		}
		Expect(by).To(HaveLen(2))
		Expect(*shown[0].Before.Value).To(BeZero())
		Expect(*shown[0].After.Value).To(Equal(1.0), "what speaks for the better variant comes first")
		Expect(comparison(res, "good", "old", "calls").Shown).To(BeEmpty(), "a secondary measure")
	})

	It("are the same after an interruption, even if the file was torn", func() {
		folder := GinkgoT().TempDir()
		e := load(first)
		whole := carry(e, journal(filepath.Join(folder, "journal.jsonl")))
		path := filepath.Join(folder, experiment.AnswersFile)
		before, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		lines, err := os.ReadFile(filepath.Join(folder, "journal.jsonl"))
		Expect(err).NotTo(HaveOccurred())
		// Killed in the middle of the second answer: the first line of the journal after the heading has the first one.
		cut := bytes.SplitAfterN(lines, []byte("\n"), 3)
		Expect(os.WriteFile(filepath.Join(folder, "journal.jsonl"), bytes.Join(cut[:2], nil), 0o600)).To(Succeed())
		Expect(os.WriteFile(path, before[:bytes.IndexByte(before, '\n')+9], 0o600)).To(Succeed())
		Expect(carry(e, journal(filepath.Join(folder, "journal.jsonl")))).To(Equal(whole))
		Expect(os.ReadFile(path)).To(Equal(before))
	})

	It("contain no secrets", func() {
		folder := GinkgoT().TempDir()
		run(strings.ReplaceAll(first, "I look at it.", "I look at hunter2-hunter2."), journal(filepath.Join(folder, "journal.jsonl")),
			func(o *experiment.Options) { o.Env.Redactor = redact.New([]string{"hunter2-hunter2"}) })
		Expect(fmt.Sprint(stored(folder))).NotTo(ContainSubstring("hunter2"))
	})

	It("are shortened, and left out beyond the limit of all", func() {
		folder := GinkgoT().TempDir()
		a, err := experiment.OpenAnswers(filepath.Join(folder, "journal.jsonl"))
		Expect(err).NotTo(HaveOccurred())
		long := "begin" + strings.Repeat("é", 20_000) + "end"
		hash, err := a.Add(long)
		Expect(err).NotTo(HaveOccurred())
		Expect(a.Text(hash)).To(And(HavePrefix("begin"), HaveSuffix("end"), ContainSubstring("bytes are left out")))
		for i := range 600 {
			hash, err = a.Add(fmt.Sprint(i) + strings.Repeat("x", 16_000))
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(a.Text(hash)).To(BeEmpty())
		Expect(a.Close()).To(Succeed())
		info, err := os.Stat(filepath.Join(folder, experiment.AnswersFile))
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Size()).To(And(BeNumerically(">", 8_000_000), BeNumerically("<", 8<<20+1000)))
	})
})
