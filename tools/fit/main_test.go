package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// sampleResult is of weights of two signals of which one is not allowed its sign.
func sampleResult() Result {
	var samples []Sample
	for i := range 120 {
		s := Sample{Item: detect.Item{ID: fmt.Sprint(i), Repo: fmt.Sprint("team/project-", i%3), Label: "clean", Lang: "en"}}
		s.Prediction.Signals = map[string]float64{}
		if i/3%2 == 0 {
			s.Prediction.Signals["future"] = 1
		}
		if i%5 == 0 {
			s.Prediction.Signals["done"] = 2
		}
		if i == 0 {
			s.Prediction.Signals["once"] = 1
		}
		if i/3%2 == 0 && i%4 != 0 || i%20 == 0 {
			s.Item.Label = "defers"
		}
		s.Prediction.Positive = i/3%2 == 0 && i%7 != 0
		samples = append(samples, s)
	}
	r, err := Fit(samples, Options{Signs: map[string]int{"done": -1}, Resamples: 500})
	if err != nil {
		panic(err)
	}
	return r
}

var _ = Describe("the command", Label("G-09"), func() {
	fit := func(args ...string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		code := run(context.Background(), args, &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	file := func(lines ...string) string {
		GinkgoHelper()
		path := filepath.Join(GinkgoT().TempDir(), "one.jsonl")
		Expect(os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600)).To(Succeed())
		return path
	}

	It("fits weights to a corpus, and twice the same", func() {
		code, first, errs := fit("-only", "lang=fr", "-json", "shipped")
		Expect(code).To(Equal(exitFitted), errs)
		Expect(first).To(ContainSubstring(`"schema": "rehearse.fit/1"`))
		Expect(first).To(MatchRegexp(`"weights": \{\n +"[a-z-]+": -?[0-9.]+`))
		_, again, _ := fit("-only", "lang=fr", "-json", "-workers", "1", "shipped")
		Expect(again).To(Equal(first))
		_, table, _ := fit("-only", "lang=fr")
		Expect(table).To(And(MatchRegexp(`^weights from [0-9]+ items`), ContainSubstring("fitted, seen")))
	})

	It("writes JSON that can be read back", func() {
		r := sampleResult()
		var out bytes.Buffer
		Expect(writeJSON(&out, r)).To(Succeed())
		var back struct {
			Schema string
			Result
		}
		Expect(json.Unmarshal(out.Bytes(), &back)).To(Succeed())
		Expect(back.Result).To(Equal(r))
	})

	It("draws tables for a terminal", func() {
		var out bytes.Buffer
		Expect(writeTables(&out, sampleResult())).To(Succeed())
		golden.Expect("fit.txt", out.Bytes())
	})

	It("refuses what cannot be fitted", func() {
		one := []string{
			`{"id":"a","text":"Next steps:\n- Write the tests\n- Run them","label":"defers","repo":"x"}`,
			`{"id":"b","text":"Done.","label":"clean","repo":"x"}`, "oops",
		}
		code, out, errs := fit(file(one...))
		Expect(code).To(Equal(exitFailed))
		Expect(out).To(BeEmpty())
		Expect(errs).To(And(ContainSubstring("one.jsonl:3: not an item"), ContainSubstring("at least two repositories")))
		_, out, errs = fit("-only", "lang=de", file(one...))
		Expect(out).To(BeEmpty())
		Expect(errs).To(ContainSubstring("no item is selected"))
		_, _, errs = fit("no-such-file.jsonl")
		Expect(errs).To(ContainSubstring("no-such-file.jsonl"))
	})
})
