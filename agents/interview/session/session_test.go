package session_test

import (
	"encoding/json"
	"reflect"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
)

var _ = Describe("A step", func() {
	It("follows another one, to the last", func() {
		all := session.Steps()
		for i, s := range all[:len(all)-1] {
			Expect(s.Next()).To(Equal(all[i+1]))
		}
		Expect(session.Matching.Next()).To(Equal(session.Matching))
	})

	DescribeTable("has a block and a part",
		func(s session.Step, block int, part string) {
			Expect(s.Block()).To(Equal(block))
			Expect(s.Part()).To(Equal(part))
		},
		Entry("identity", session.Identity, 0, ""), Entry("tone", session.Tone, 0, ""), Entry("preamble", session.Preamble, 0, ""),
		Entry("block 1", session.Block1, 1, ""), Entry("block 2A", session.Block2A, 2, "A"), Entry("block 2B", session.Block2B, 2, "B"),
		Entry("block 9", session.Block9, 9, ""), Entry("block 10", session.Block10, 10, ""), Entry("matching", session.Matching, 10, ""),
	)

	It("is unmarshaled by name", func() {
		var s session.Step
		Expect(json.Unmarshal([]byte(`"BLOC_02B"`), &s)).To(Succeed())
		Expect(s).To(Equal(session.Block2B))
		Expect(json.Unmarshal([]byte(`"BLOC_11"`), &s)).To(MatchError(ContainSubstring(`unknown step "BLOC_11"`)))
	})
})

var _ = It("names a message by its number", func() {
	Expect(session.Message{Seq: 12}.ID()).To(Equal("m12"))
})

var _ = Describe("A call", func() {
	It("is charged for the reported tokens, or else for the counted ones", func() {
		c := session.Call{Counted: llm.Usage{Input: 5, Output: 2}}
		Expect(c.Used()).To(Equal(c.Counted))
		c.Reported = &llm.Usage{Input: 6, Output: 2}
		Expect(c.Used()).To(Equal(*c.Reported))
	})

	// Counted are 1,000 tokens in 10 messages, and 300 out.
	DescribeTable("disagrees with reported tokens beyond framing and one percent",
		func(reported *llm.Usage, want bool) {
			c := session.Call{Counted: llm.Usage{Input: 1000, Output: 300}, Reported: reported, Sent: 6}
			Expect(c.Disagrees()).To(Equal(want))
		},
		Entry("nothing reported", nil, false),
		Entry("the same", &llm.Usage{Input: 1000, Output: 300}, false),
		Entry("without framing: five for each of 6 messages and 4 instructions", &llm.Usage{Input: 950, Output: 300}, false),
		Entry("more than that", &llm.Usage{Input: 949, Output: 300}, true),
		Entry("partly from a cache", &llm.Usage{Input: 100, CachedInput: 900, Output: 300}, false),
		Entry("another input", &llm.Usage{Input: 1051, Output: 300}, true),
		Entry("another output", &llm.Usage{Input: 1000, Output: 306}, true),
		Entry("nearly the output", &llm.Usage{Input: 1000, Output: 305}, false),
	)

	It("of many tokens may differ by one percent", func() {
		c := session.Call{Counted: llm.Usage{Input: 50_000}, Reported: &llm.Usage{Input: 50_500}}
		Expect(c.Disagrees()).To(BeFalse())
		c.Reported.Input = 50_600
		Expect(c.Disagrees()).To(BeTrue())
	})
})

var _ = It("is copied without sharing what can change", func() {
	var full session.Session
	fill(reflect.ValueOf(&full).Elem())
	copied := full.Clone()
	Expect(copied).To(Equal(full))
	Expect(shared(reflect.ValueOf(full), reflect.ValueOf(copied), "session")).To(BeEmpty())
	Expect(session.Session{}.Clone()).To(Equal(session.Session{}))
})

// fill sets all pointers and slices of a value.
func fill(v reflect.Value) {
	switch v.Kind() { //nolint:exhaustive // other kinds share nothing
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct:
		for field, value := range v.Fields() {
			if field.IsExported() {
				fill(value)
			}
		}
	}
}

// shared lists the pointers and slices that two equal values share.
func shared(a, b reflect.Value, name string) []string {
	var out []string
	switch a.Kind() { //nolint:exhaustive // other kinds share nothing
	case reflect.Pointer:
		if a.Pointer() == b.Pointer() && !a.IsNil() {
			out = append(out, name)
		}
		if !a.IsNil() {
			out = append(out, shared(a.Elem(), b.Elem(), name)...)
		}
	case reflect.Map:
		out = append(out, name+", a map, which the copy may share")
	case reflect.Slice:
		if a.Pointer() == b.Pointer() {
			out = append(out, name)
		}
		for i := range a.Len() {
			out = append(out, shared(a.Index(i), b.Index(i), name)...)
		}
	case reflect.Struct:
		for i := range a.NumField() {
			if field := a.Type().Field(i); field.IsExported() {
				out = append(out, shared(a.Field(i), b.Field(i), name+"."+field.Name)...)
			}
		}
	}
	return out
}
