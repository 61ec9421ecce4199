package perturb_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

func parse(text string) perturb.Perturbation {
	GinkgoHelper()
	p, err := perturb.Parse(text)
	Expect(err).NotTo(HaveOccurred())
	return p
}

var _ = Describe("the text of a perturbation", Label("H-04"), func() {
	two := 2
	DescribeTable("is parsed and printed without a change",
		func(text string, want perturb.Perturbation) {
			Expect(parse(text)).To(Equal(want))
			Expect(want.String()).To(Equal(text))
		},
		Entry("a fault", "call=7:reset-mid-stream", perturb.Perturbation{
			At: perturb.Call, N: 7, Do: "reset-mid-stream", Fault: &mocks.Fault{Kind: "reset-mid-stream"},
		}),
		Entry("a fault with options", "call=7:status,status=503,retry_after=20s,times=3", perturb.Perturbation{
			At: perturb.Call, N: 7, Do: "status",
			Fault: &mocks.Fault{Kind: "status", Status: 503, RetryAfter: quantity.Duration(20 * time.Second), Times: 3},
		}),
		Entry("a fault with a fraction of a second", "call=1:slow-drip,after=2,delay=1.5s", perturb.Perturbation{
			At: perturb.Call, N: 1, Do: "slow-drip",
			Fault: &mocks.Fault{Kind: "slow-drip", After: &two, Delay: quantity.Duration(1500 * time.Millisecond)},
		}),
		Entry("a fault with a zero option", "call=2:exit,status=3,after=0", perturb.Perturbation{
			At: perturb.Call, N: 2, Do: "exit", Fault: &mocks.Fault{Kind: "exit", Status: 3, After: new(int)},
		}),
		Entry("a latency", "call=3:latency,first=30s", perturb.Perturbation{
			At: perturb.Call, N: 3, Do: perturb.Latency, First: quantity.Duration(30 * time.Second),
		}),
		Entry("a change of the text", "call=3:text-truncated", perturb.Perturbation{At: perturb.Call, N: 3, Do: perturb.TextTruncated}),
		Entry("a crash", "write=12:crash-before", perturb.Perturbation{At: perturb.Write, N: 12, Do: perturb.CrashBefore}),
		Entry("a repeated full disk", "write=3:disk-full,every=10", perturb.Perturbation{At: perturb.Write, N: 3, Do: perturb.DiskFull, Every: 10}),
		Entry("a turn", "turn=4:double", perturb.Perturbation{At: perturb.Turn, N: 4, Do: perturb.Double}),
	)

	DescribeTable("may be written otherwise",
		func(text, want string) { Expect(parse(text).String()).To(Equal(want)) },
		Entry("options in any order", "call=7:status,times=3,status=503", "call=7:status,status=503,times=3"),
		Entry("a duration in any unit", "call=3:latency,first=0.5m", "call=3:latency,first=30s"),
	)

	DescribeTable("is rejected if malformed",
		func(text, want string) {
			_, err := perturb.Parse(text)
			Expect(err).To(MatchError(ContainSubstring(want)))
			Expect(len(err.Error())).To(BeNumerically("<", 1200))
		},
		Entry("nothing", "", `"" is not a perturbation; write point=number:what, such as call=7:reset-mid-stream`),
		Entry("blanks", "  ", "is not a perturbation"),
		Entry("no number", "call:hang", "is not a perturbation"),
		Entry("no point", "7:hang", "is not a perturbation"),
		Entry("nothing that happens", "call=7", "is not a perturbation"),
		Entry("the colon among the options", "call=7,status=5:status", "is not a perturbation"),
		Entry("a huge one", "call=7:"+strings.Repeat("x", 10_000), "has 10007 bytes; at most 256 are allowed"),
		Entry("an unknown point", "cal=7:hang", `"cal" is not a point; choose from call, tool, turn, write; did you mean "call"?`),
		Entry("a point of binary rubbish", "\x00\xff=7:hang", "is not a point"),
		Entry("number 0", "call=0:hang", `"0" is not a whole number from 1 to 999999999`),
		Entry("a negative number", "call=-1:hang", `"-1" is not a whole number`),
		Entry("a signed number", "call=+1:hang", `"+1" is not a whole number`),
		Entry("a leading zero", "call=07:hang", `"07" is not a whole number`),
		Entry("a number beyond all", "call=99999999999999999999:hang", "is not a whole number"),
		Entry("an empty number", "call=:hang", `"" is not a whole number`),
		Entry("blanks around the number", "call= 7:hang", `" 7" is not a whole number`),
		Entry("an unknown fault", "call=7:reset-midstream", `did you mean "reset-mid-stream"?`),
		Entry("an unknown edit", "call=7:text-trunkated", `did you mean "text-truncated"?`),
		Entry("an unknown crash", "write=7:crash-befor", `"crash-befor" cannot happen at a write; did you mean "crash-before"?`),
		Entry("a fault at a write", "write=7:hang", "cannot happen at a write; choose from crash-before, crash-after, disk-full"),
		Entry("a crash at a turn", "turn=7:crash-before", "cannot happen at a turn"),
		Entry("a double call", "call=7:double", "cannot happen at a call"),
		Entry("an unknown option", "call=7:status,stauts=503", `"stauts" is not an option of status; choose from status, retry_after, after, delay, times; did you mean "status"?`),
		Entry("an option where there are none", "turn=4:double,every=2", `"every" is not an option here; double has none`),
		Entry("an empty option", "call=7:status,", `"" is not an option of status`),
		Entry("an option without a value", "call=7:status,status", "the option status has no value; write status=VALUE"),
		Entry("an option with an empty value", "call=7:status,status=", "the option status has no value"),
		Entry("an option twice", "call=7:status,status=503,status=500", "the option status is repeated"),
		Entry("an option of another fault", "call=7:timeout,status=503", `option "status" has no meaning here; this kind takes no options`),
		Entry("a status that is no error", "call=7:status,status=200", "status is 200; an error status is 400 to 599"),
		Entry("an exit status beyond all", "call=7:exit,status=256", "an exit status is between 1 and 255, not 256"),
		Entry("a status of a process that hangs", "call=7:hang,status=1", "exit is the only process fault with a status"),
		Entry("a wait of a process", "call=7:hang,retry_after=1s", "neither retry_after nor delay"),
		Entry("times 0", "call=7:status,times=0", `the option times: "0" is not a whole number`),
		Entry("times beyond all", "call=7:status,times=1001", "times must be at most 1000, got 1001"),
		Entry("a fault that nobody asks again after, twice", "call=7:slow-drip,times=2", "arrives with the complete answer"),
		Entry("latency without a time", "call=7:latency", "write first=30s"),
		Entry("latency of no time", "call=7:latency,first=0s", "a time of 0 has no effect"),
		Entry("latency for a negative time", "call=7:latency,first=-3s", "negative"),
		Entry("latency for ages", "call=7:latency,first=9000h", "must be at most 8760h"),
		Entry("a pause for ages", "call=7:slow-drip,delay=9000h", "must be at most 8760h"),
		Entry("a time without a unit", "call=7:latency,first=30", "is not a duration"),
		Entry("a fault's latency", "call=7:status,first=3s", `"first" is not an option of status`),
		Entry("every 0", "write=7:crash-before,every=0", `the option every: "0" is not a whole number`),
		Entry("an option after a text", "call=7:text-padded,times=2", "text-padded has none"),
	)

	It("round-trips, whatever is valid", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			p := anything(t)
			if p.Validate() != nil {
				return
			}
			text := p.String()
			back, err := perturb.Parse(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			Expect(back).To(Equal(p))
			if !form.MatchString(text) {
				t.Fatalf("the schema does not know the form of %s", text)
			}
		})
	})

	It("is a string in YAML and JSON, with a place for what is wrong", func() {
		var v struct {
			Perturb []perturb.Perturbation `yaml:"perturb" json:"perturb"`
		}
		_, found := yamlsrc.Decode("x.yaml", []byte("perturb: [call=1:hang, 'write=2:crash-after,every=3']\n"), &v)
		Expect(found).To(BeEmpty())
		data, err := json.Marshal(v)
		Expect(err).NotTo(HaveOccurred())
		Expect(data).To(MatchJSON(`{"perturb": ["call=1:hang", "write=2:crash-after,every=3"]}`))
		before := slices.Clone(v.Perturb)
		Expect(json.Unmarshal(data, &v)).To(Succeed())
		Expect(v.Perturb).To(Equal(before))

		_, found = yamlsrc.Decode("x.yaml", []byte("perturb:\n  - call=1:hang\n  - call=2:hagn\n"), &v)
		Expect(found.Error()).To(And(HavePrefix("x.yaml:3:5: "), HaveSuffix(`did you mean "hang"?`)))
	})

	It("has a schema that editors understand", func() {
		s := perturb.Perturbation{}.JSONSchema()
		Expect(s.Type).To(Equal("string"))
		for _, example := range s.Examples {
			Expect(example).To(MatchRegexp(s.Pattern))
			parse(example.(string))
		}
		Expect("cal=1:hang").NotTo(MatchRegexp(s.Pattern))
	})
})

var form = regexp.MustCompile(perturb.Perturbation{}.JSONSchema().Pattern)

// anything is a perturbation, most often a valid one.
func anything(t *rapid.T) perturb.Perturbation {
	p := perturb.Perturbation{
		At: rapid.SampledFrom([]perturb.Point{perturb.Call, perturb.Write, perturb.Turn}).Draw(t, "at"),
		N:  rapid.IntRange(1, 2_000_000_000).Draw(t, "n"),
	}
	p.Do = rapid.SampledFrom(perturb.Kinds(p.At)).Draw(t, "do")
	some := func(name string, limit int) int {
		return rapid.OneOf(rapid.Just(0), rapid.IntRange(0, limit)).Draw(t, name)
	}
	wait := func(name string) quantity.Duration { return quantity.Duration(some(name, int(9000*time.Hour))) }
	switch {
	case p.At == perturb.Write:
		p.Every = some("every", 2_000_000_000)
	case p.Do == perturb.Latency:
		p.First = wait("first")
	case p.At == perturb.Call && !strings.HasPrefix(p.Do, "text-"):
		p.Fault = &mocks.Fault{Kind: p.Do, Times: some("times", 1100)}
		if p.Do == "status" || p.Do == "exit" {
			p.Fault.Status = some("status", 600)
		}
		if p.Do == "status" {
			p.Fault.RetryAfter = wait("retry_after")
		}
		if p.Do == "slow-drip" {
			p.Fault.Delay = wait("delay")
		}
		if n := some("after", 5); n > 0 {
			p.Fault.After = &n
		}
	}
	return p
}

var _ = Describe("Validate", func() {
	DescribeTable("rejects perturbations without a text form",
		func(p perturb.Perturbation, want string) {
			Expect(p.Validate()).To(MatchError(ContainSubstring(want)))
		},
		Entry("nothing", perturb.Perturbation{}, "is not a point"),
		Entry("number 0", perturb.Perturbation{At: perturb.Turn, Do: perturb.Double}, "between 1 and 999999999, got 0"),
		Entry("a fault that is none", perturb.Perturbation{At: perturb.Call, N: 1, Do: "hang"}, "missing or of another kind"),
		Entry("another fault", perturb.Perturbation{At: perturb.Call, N: 1, Do: "hang", Fault: &mocks.Fault{Kind: "exit"}}, "missing or of another kind"),
		Entry("a fault too much", perturb.Perturbation{At: perturb.Turn, N: 1, Do: perturb.Double, Fault: &mocks.Fault{Kind: "exit"}}, "is not a fault"),
		Entry("a message", perturb.Perturbation{At: perturb.Call, N: 1, Do: "refusal", Fault: &mocks.Fault{Kind: "refusal", Message: "no, thanks"}}, "cannot set message"),
		Entry("a time too much", perturb.Perturbation{At: perturb.Turn, N: 1, Do: perturb.Double, First: 1}, "only latency has first"),
		Entry("a repetition too much", perturb.Perturbation{At: perturb.Turn, N: 1, Do: perturb.Double, Every: 1}, "only a write"),
		Entry("a negative repetition", perturb.Perturbation{At: perturb.Write, N: 1, Do: perturb.DiskFull, Every: -1}, "got -1"),
		Entry("negative times", perturb.Perturbation{At: perturb.Call, N: 1, Do: "hang", Fault: &mocks.Fault{Kind: "hang", Times: -1}}, "times: must be at least 1, not -1"),
		Entry("a huge count", perturb.Perturbation{At: perturb.Call, N: 1, Do: "truncated-stream", Fault: &mocks.Fault{Kind: "truncated-stream", After: new(2_000_000_000)}}, "got 2000000000"),
	)

	It("knows what which backend can show", func() {
		Expect(parse("call=1:hang").Suits(true)).To(Succeed())
		Expect(parse("call=1:hang").Suits(false)).To(MatchError(ContainSubstring(`only a command-line agent can show the fault "hang"; an API can show status, timeout`)))
		Expect(parse("call=1:timeout").Suits(false)).To(Succeed())
		Expect(parse("call=1:timeout").Suits(true)).To(MatchError(ContainSubstring(`a command-line agent cannot show the fault "timeout"; it can show exit, error-in-success`)))
		for _, text := range []string{"call=1:latency,first=1s", "call=1:text-padded", "write=1:disk-full", "turn=1:double"} {
			Expect(parse(text).Suits(true)).To(Succeed())
			Expect(parse(text).Suits(false)).To(Succeed())
		}
	})
})

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"call=7:status,status=503,retry_after=20s,times=3", "call=3:latency,first=30s", "call=1:slow-drip,after=2,delay=1.5s",
		"write=12:crash-before,every=10", "turn=4:double", "call=2:exit,status=3,after=0", "call=07:x,,=", ":=,",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := perturb.Parse(text)
		if err != nil {
			if len(err.Error()) > 4096 {
				t.Fatalf("the error has %d bytes", len(err.Error()))
			}
			return
		}
		if err := p.Validate(); err != nil {
			t.Fatalf("%q is not valid: %v", text, err)
		}
		again, err := perturb.Parse(p.String())
		if err != nil || again.String() != p.String() {
			t.Fatalf("%q: %q is read as %q: %v", text, p, again, err)
		}
	})
}
