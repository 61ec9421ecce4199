package redact_test

import (
	"encoding/json"
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/redact"
)

type part struct {
	Text string
	N    int
}

type whole struct {
	part    // not exported, with exported fields
	hidden  string
	Kind    time.Weekday
	At      time.Time
	List    []string
	Parts   [2]part
	Next    *part
	Any     any
	Map     map[string][]part
	Raw     json.RawMessage
	Failure error
}

var _ = Describe("Copy", func() {
	const secret = "correct-horse-battery"
	text := redact.New([]string{secret}).Text

	It("replaces secrets everywhere, and leaves the original and everything else unchanged", func() {
		failure := errors.New(secret)
		of := func(s string) whole {
			return whole{
				part: part{s, 1}, hidden: "h", Kind: time.Friday, At: time.Unix(7, 0), List: []string{s, "a"}, Parts: [2]part{{s, 2}, {"b", 3}},
				Next: &part{s, 4}, Any: map[string]any{s: []any{s, 1.5, nil, part{s, 5}}}, Map: map[string][]part{s: {{s, 6}}},
				Raw: json.RawMessage(`{"a":["` + s + `"]}`), Failure: failure,
			}
		}
		given := of(secret)
		Expect(redact.Copy(given, text)).To(Equal(of(redacted)))
		Expect(given).To(Equal(of(secret)))
		Expect(redact.Copy(given, text).Failure).To(BeIdenticalTo(failure))
	})
	It("keeps nil and empty values apart", func() {
		Expect(redact.Copy(whole{}, text)).To(Equal(whole{}))
		Expect(redact.Copy([]string{}, text)).To(Equal([]string{}))
		Expect(redact.Copy(any(nil), text)).To(BeNil())
	})
	DescribeTable("does not change JSON without secrets", func(raw, want string) {
		Expect(string(redact.Copy(json.RawMessage(raw), text))).To(Equal(want))
	},
		Entry("spaces", `{"b": 1.0,  "a": ["x"]}`, `{"b": 1.0,  "a": ["x"]}`),
		Entry("none", ``, ``),
		Entry("not JSON", `{"a": `, `{"a": `),
		Entry("an escaped secret", `{"a": [{"b": "\u0063orrect-horse-battery"}], "n": 1}`, `{"a":[{"b":"[REDACTED:secret]"}],"n":1}`),
	)
})
