package export_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"strings"
	"testing/iotest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/export"
)

// compiler keeps what it has compiled.
var compiler = jsonschema.NewCompiler()

// valid checks JSON against a definition of testdata/log.schema.json.
func valid(definition string, data []byte) {
	GinkgoHelper()
	schema, err := compiler.Compile("testdata/log.schema.json#/$defs/" + definition)
	Expect(err).NotTo(HaveOccurred())
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	Expect(err).NotTo(HaveOccurred())
	Expect(schema.Validate(value)).To(Succeed())
}

func written(r run) []byte {
	GinkgoHelper()
	var b bytes.Buffer
	Expect(r.log().JSON(&b, r.head, r.samples)).To(Succeed())
	return b.Bytes()
}

func archived(r run) []byte {
	GinkgoHelper()
	var b bytes.Buffer
	Expect(r.log().Eval(&b, r.head, r.samples)).To(Succeed())
	return b.Bytes()
}

// log is the part of a log that these specs check.
type log struct {
	Status  string
	Error   *struct{ Message string }
	Results struct {
		TotalSamples     int `json:"total_samples"`
		CompletedSamples int `json:"completed_samples"`
		Scores           []struct {
			Scored   int `json:"scored_samples"`
			Unscored int `json:"unscored_samples"`
			Metrics  map[string]struct{ Value float64 }
		}
	}
	Stats struct {
		Usage map[string]tokens `json:"model_usage"`
		Roles map[string]tokens `json:"role_usage"`
	}
	Eval struct {
		Created string
		Dataset struct {
			IDs []string `json:"sample_ids"`
		}
		Config struct{ Epochs int }
	}
	Samples []sample
}

type tokens struct {
	Input  int      `json:"input_tokens"`
	Output int      `json:"output_tokens"`
	Total  int      `json:"total_tokens"`
	Cost   *float64 `json:"total_cost"`
}

type sample struct {
	ID          string
	Epoch       int
	Input       string
	Target      string
	Metadata    map[string]any
	Messages    []struct{ Role, Content string }
	Scores      map[string]struct{ Value, Explanation string }
	Error       *struct{ Message string }
	Usage       map[string]tokens `json:"model_usage"`
	Attachments map[string]string
	Events      []struct {
		Event, Source, Timestamp string
		Error                    any // text of a call, more of an error
		Retries                  int
		Input                    []struct{ Content string }
		Data                     map[string]any
	}
}

func read(data []byte) log {
	GinkgoHelper()
	var l log
	Expect(json.Unmarshal(data, &l)).To(Succeed())
	return l
}

var _ = Describe("the JSON log", Label("H-05"), func() {
	It("is unchanged, and has only fields of Inspect's models", func() {
		data := written(small())
		valid("log", data)
		var indented bytes.Buffer
		Expect(json.Indent(&indented, data, "", " ")).To(Succeed())
		golden.Expect("log.json", indented.Bytes())
	})
	It("counts verdicts, and scores only what passed or failed", func() {
		l := read(written(small()))
		Expect([]int{l.Results.TotalSamples, l.Results.CompletedSamples}).To(Equal([]int{4, 2}))
		Expect(l.Results.Scores).To(HaveLen(1))
		Expect([]int{l.Results.Scores[0].Scored, l.Results.Scores[0].Unscored}).To(Equal([]int{2, 2}))
		Expect(l.Results.Scores[0].Metrics["accuracy"].Value).To(Equal(0.5))
		var values []string
		for _, s := range l.Samples {
			value := s.Scores["verdict"].Value
			if s.Error != nil {
				value = "error: " + s.Error.Message
			}
			values = append(values, fmt.Sprintf("%s/%d %s", s.ID, s.Epoch, value))
		}
		Expect(values).To(Equal([]string{
			"orders/golden/1 C", "orders/golden/2 I", "orders/outage/1 error: unfired-fault: a fault did not fire", "orders/process/1 ",
		}))
		Expect(l.Eval.Dataset.IDs).To(Equal([]string{"orders/golden", "orders/outage", "orders/process"}))
		Expect(l.Eval.Config.Epochs).To(Equal(2))
	})
	It("has no numbers for unknown values", func() {
		r := small()
		r.trials[0].trial.Calls[0].Usage = nil
		r.trials[1].scenario.Price = nil
		l := read(written(r))
		Expect(l.Samples[0].Metadata).NotTo(Or(HaveKey("tokens"), HaveKey("cost_usd"), HaveKey("cost_eur")))
		Expect(l.Samples[1].Metadata).To(And(HaveKey("tokens"), Not(HaveKey("cost_usd")), Not(HaveKey("cost_eur"))))
		Expect(read(written(small())).Samples[0].Metadata).To(And(HaveKeyWithValue("tokens", 44.0), HaveKey("cost_usd"), HaveKey("cost_eur")))
	})
	It("has the expected status as the target, and for perturbed runs the invariants", func() {
		r := small()
		invariants := []string{"run.broken == 0", "calls.total <= 4"}
		r.trials[2].scenario.Invariants = invariants
		off := &r.trials[3].scenario
		off.Perturb, off.Invariants, off.Expect.Status = []string{"call=1:timeout"}, invariants, ""
		l := read(written(r))
		Expect(l.Samples[2].Target).To(Equal("done"))
		Expect(l.Samples[3].Target).To(Equal("run.broken == 0\ncalls.total <= 4"))
		Expect(l.Samples[3].Metadata).To(HaveKeyWithValue("perturb", "call=1:timeout"))
		off.Expect.Status = "error"
		Expect(read(written(r)).Samples[3].Target).To(Equal("error"), "a perturbed scenario may expect an end")
	})
	It("sums what models used, in USD, over samples and purposes", func() {
		l := read(written(small()))
		// Two trials with both calls, and two with the first alone.
		Expect(l.Stats.Usage).To(HaveLen(1))
		all := l.Stats.Usage["m-1"]
		Expect([]int{all.Input, all.Output, all.Total}).To(Equal([]int{4*10 + 2*20, 4*5 + 2*7, 4*17 + 2*27}))
		Expect(l.Stats.Roles["answer"].Total + l.Stats.Roles["check"].Total).To(Equal(all.Total))
		sum, cost := 0, 0.0
		for _, s := range l.Samples {
			sum += s.Usage["m-1"].Total
			cost += *s.Usage["m-1"].Cost
		}
		Expect(sum).To(Equal(all.Total))
		Expect(*all.Cost).To(BeNumerically("~", cost, 1e-9))
		Expect(cost).To(BeNumerically("~", 4*(10*1+5*2)+2*(20*1+7*2), 1e-9), "reading from a cache has no price here")
	})
	It("leaves a cost that is not known out, also of sums", func() {
		r := small()
		r.trials[1].scenario.Price = nil
		l := read(written(r))
		Expect(l.Stats.Usage["m-1"].Cost).To(BeNil())
		Expect(l.Samples[1].Usage["m-1"].Cost).To(BeNil())
		Expect(l.Samples[0].Usage["m-1"].Cost).NotTo(BeNil())
	})
	It("orders events, with faults before their call", func() {
		var kinds []string
		for _, e := range read(written(small())).Samples[1].Events {
			kinds = append(kinds, strings.TrimSpace(e.Event+" "+e.Source+" "+e.Timestamp[17:23]))
		}
		Expect(kinds).To(Equal([]string{
			"info backend 00.000", "model  00.000", "info agent 02.000", "model  03.000", "info agent 03.500", "score  04.000",
		}))
		events := read(written(small())).Samples[1].Events
		Expect(events[0].Data).To(HaveKeyWithValue("fault", "status"))
		Expect(events[1].Retries).To(Equal(1))
		Expect(events[3].Error).To(Equal("unavailable: overloaded"))
	})
	It("has the first message to an external agent as input, and each turn after its calls, even without times", func() {
		sc, tr := scenario("orders", 1), sampleTrial("orders", 1, false)
		sc.RealTime, tr.Calls[1].At = true, 0
		turn := func(n int, user string) record.Event {
			return record.Event{Event: event.Event{Kind: event.State, Name: "turn", N: n, Attrs: map[string]any{"user": user, "calls": float64(n)}}}
		}
		tr.Events = []record.Event{turn(1, "Hello?"), turn(2, "And?"), {Event: event.Event{Kind: event.State, Name: "file", Attrs: map[string]any{"path": "a"}}}}
		s := read(written(run{trials: []judged{{sc, tr, nil}}})).Samples[0]
		Expect(s.Input).To(Equal("Hello?"))
		var kinds []any
		for _, e := range s.Events {
			if e.Source != "backend" && e.Event != "score" {
				kinds = append(kinds, fmt.Sprintln(e.Event, e.Data["name"], e.Data["attr user"]))
			}
		}
		Expect(kinds).To(Equal([]any{"model <nil> <nil>\n", "info turn Hello?\n", "model <nil> <nil>\n", "info turn And?\n", "info file <nil>\n"}))
	})
	It("keeps long texts of events once, and every reference leads to one", func() {
		for _, s := range read(written(small())).Samples {
			Expect(s.Attachments).NotTo(BeEmpty())
			for _, e := range s.Events {
				for _, m := range e.Input {
					if key, ok := strings.CutPrefix(m.Content, "attachment://"); ok {
						Expect(s.Attachments).To(HaveKey(key))
					}
					Expect(len(m.Content)).To(BeNumerically("<=", 100))
				}
			}
			Expect(s.Messages[0].Content).To(Equal(long), "messages of the sample are whole")
			Expect(s.Messages[0].Role).To(Equal("system"), "Inspect knows no developer")
		}
	})
	It("reports how the run ended", func() {
		r := small()
		r.head.Interrupted = true
		Expect(read(written(r)).Status).To(Equal("cancelled"))
		r.head.Problems = []string{"line 3: torn", "line 9: torn"}
		l := read(written(r))
		Expect(l.Status).To(Equal("error"))
		Expect(l.Error.Message).To(Equal("line 3: torn\nline 9: torn"))
		valid("log", written(r))
	})
	It("begins at the given time", func() {
		r := small()
		r.head.Start = journalStart.Add(time.Hour)
		Expect(read(written(r)).Eval.Created).To(Equal("2026-11-21T21:00:00.000000+00:00"))
	})
	It("is a log without samples, too", func() {
		r := small()
		r.trials = nil
		valid("log", written(r))
		valid("summaries", member(archived(r), "summaries.json"))
	})
	It("has no times for real-time calls without timings", func() {
		r := small()
		for i := range r.trials {
			r.trials[i].scenario.RealTime = true
		}
		data := written(r)
		valid("log", data)
		Expect(string(data)).NotTo(ContainSubstring(`"working_time"`))
	})
})

func member(archive []byte, name string) []byte {
	GinkgoHelper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	Expect(err).NotTo(HaveOccurred())
	file, err := z.Open(name)
	Expect(err).NotTo(HaveOccurred())
	data, err := io.ReadAll(file) // checks the sum as well
	Expect(err).NotTo(HaveOccurred())
	return data
}

var _ = Describe("the .eval archive", Label("H-05"), func() {
	It("has the members that Inspect reads, each as its models know it", func() {
		data := archived(small())
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		Expect(err).NotTo(HaveOccurred())
		var names []string
		for _, f := range z.File {
			names = append(names, f.Name)
			Expect(f.Modified.IsZero() || f.Modified.Year() < 1981).To(BeTrue(), "no member has a date")
		}
		Expect(names).To(Equal([]string{
			"_journal/start.json",
			"samples/orders/golden_epoch_1.json", "samples/orders/golden_epoch_2.json", "samples/orders/outage_epoch_1.json", "samples/orders/process_epoch_1.json",
			"summaries.json", "header.json",
		}))
		valid("start", member(data, names[0]))
		for _, name := range names[1:5] {
			valid("sample", member(data, name))
		}
		valid("summaries", member(data, "summaries.json"))
		valid("log", member(data, "header.json"))
	})
	It("has the same content as the JSON log", func() {
		var whole map[string]json.RawMessage
		Expect(json.Unmarshal(written(small()), &whole)).To(Succeed())
		var samples []json.RawMessage
		Expect(json.Unmarshal(whole["samples"], &samples)).To(Succeed())
		data := archived(small())
		Expect(member(data, "samples/orders/golden_epoch_2.json")).To(MatchJSON(samples[1]))
		delete(whole, "samples")
		head, err := json.Marshal(whole)
		Expect(err).NotTo(HaveOccurred())
		Expect(member(data, "header.json")).To(MatchJSON(head))
	})
	It("is the same bytes each time", func() {
		Expect(archived(small())).To(Equal(archived(small())))
	})
	It("has no member outside of its folder, and one for each sample, whatever scenarios are called", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			part := rapid.SampledFrom([]string{"..", ".", "/", `\`, "a", "é", "\x00", "C:", "\n", " ", "-", strings.Repeat("x", 200), "\u202e"})
			list := rapid.SliceOfNDistinct(rapid.Custom(func(rt *rapid.T) string {
				return strings.Join(rapid.SliceOfN(part, 0, 6).Draw(rt, "parts"), "")
			}), 1, 6, rapid.ID).Draw(rt, "names")
			r := run{head: small().head}
			for _, name := range list {
				r.trials = append(r.trials, judged{scenario(name, 1), sampleTrial(name, 1, false), nil})
			}
			data := archived(r)
			z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
			Expect(err).NotTo(HaveOccurred())
			seen := map[string]bool{}
			for _, f := range z.File {
				Expect(seen[f.Name]).To(BeFalse(), f.Name)
				seen[f.Name] = true
				Expect(path.Clean(f.Name)).To(Equal(f.Name))
				Expect(f.Name).NotTo(Or(HavePrefix("/"), HavePrefix("../"), ContainSubstring(`\`), ContainSubstring("\n"), ContainSubstring(":")))
			}
			Expect(seen).To(HaveLen(len(list) + 3))
		})
	})
})

var _ = Describe("a log of many trials", func() {
	It("takes no more memory than one of few", func() {
		heap := func(trials int) int64 {
			r := run{head: small().head}
			one := judged{scenario("orders/golden", trials), sampleTrial("orders/golden", 1, false), nil}
			peak := int64(0)
			visit := func(to export.Visit) error {
				for n := 1; n <= trials; n++ {
					one.trial.Head.N = n
					r.trials = []judged{one}
					if err := r.samples(to); err != nil {
						return err
					}
					if n%200 == 0 {
						runtime.GC()
						var m runtime.MemStats
						runtime.ReadMemStats(&m)
						peak = max(peak, int64(m.HeapAlloc)) //nolint:gosec // far from the limit
					}
				}
				return nil
			}
			var l export.Log
			Expect(visit(l.Count)).To(Succeed())
			Expect(l.Eval(io.Discard, r.head, visit)).To(Succeed())
			return peak
		}
		few, many := heap(200), heap(2000)
		// A member of the archive needs an entry in its directory, some 200 bytes, and
		// its packed summary some 100.
		Expect(many - few).To(BeNumerically("<", 1800*1000))
	})
})

var _ = Describe("a writer or a reader that fails", func() {
	It("is reported", func() {
		full := errors.New("disk full")
		r := small()
		for _, write := range []func(*export.Log, io.Writer, export.Head, export.Samples) error{(*export.Log).JSON, (*export.Log).Eval} {
			Expect(write(r.log(), failing{full}, r.head, r.samples)).To(MatchError(full))
			Expect(write(r.log(), io.Discard, r.head, func(export.Visit) error { return iotest.ErrTimeout })).To(MatchError(iotest.ErrTimeout))
		}
	})
})

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

var _ = It("survives recordings that do not fit together", func() {
	r := small()
	t := &r.trials[0].trial
	t.Calls[0].Messages = []string{"m9", "", "m1"}
	t.Calls[1].Reply = "m77"
	t.Messages = append(t.Messages, record.Message{ID: "x"})
	t.Exchanges = t.Exchanges[:1]
	valid("log", written(r))
})
