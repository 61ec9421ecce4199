package incident_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/incident"
)

var _ = Describe("Select", func() {
	all := []incident.Conversation{
		{ID: "conv-1", Traces: []string{"5b8efff7", "77aa"}}, {ID: "conv-2", Traces: []string{"77aa"}}, {ID: "4bf92f35"}, {ID: "a/4bf92f35"},
	}
	ids := func(selected []incident.Conversation) []string {
		var ids []string
		for _, c := range selected {
			ids = append(ids, c.ID)
		}
		return ids
	}

	DescribeTable("finds conversations", func(id string, want []string, note string) {
		selected, got, err := incident.Select(all, id)
		Expect(err).NotTo(HaveOccurred())
		Expect(ids(selected)).To(Equal(want))
		Expect(got).To(Equal(note))
	},
		Entry("by their ids", "conv-2", []string{"conv-2"}, ""),
		Entry("by the id of a trace", "5b8efff7", []string{"conv-1"}, ""),
		Entry("by the beginning", "5b8", []string{"conv-1"}, ""),
		Entry("by an equal id rather than an end", "4bf92f35", []string{"4bf92f35"}, ""),
		Entry("of a trace that has several", "77aa", []string{"conv-1", "conv-2"},
			"77aa has 2 conversations: conv-1 (2 traces, such as 5b8efff7), conv-2 (trace 77aa)"),
	)

	It("lists the known ids, the most similar first", func() {
		_, _, err := incident.Select(all, "4bf92f39")
		Expect(err).To(MatchError("the files have no such conversation or trace; they have " +
			"4bf92f35, a/4bf92f35, conv-1 (2 traces, such as 5b8efff7), conv-2 (trace 77aa)"))
	})

	It("lists five at most", func() {
		_, _, err := incident.Select(make([]incident.Conversation, 9), "x")
		Expect(err).To(MatchError(HaveSuffix(" and 4 more")))
	})
})
