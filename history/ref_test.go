package history_test

import (
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/history"
)

var _ = DescribeTable("the name of a run", Label("H-06"),
	func(text string, want history.Ref) { Expect(history.ParseRef(text)).To(Equal(want)) },
	Entry("the latest", "latest", history.Ref{}),
	Entry("the one before", "latest~1", history.Ref{Back: 1}),
	Entry("the one before, briefly", "latest~", history.Ref{Back: 1}),
	Entry("of a branch", "branch:main", history.Ref{Branch: "main"}),
	Entry("of a branch with special characters", "branch:feature/a~b~12", history.Ref{Branch: "feature/a~b", Back: 12}),
	Entry("an id", "r0123456789ab", history.Ref{ID: "r0123456789ab"}),
	Entry("the start of an id", "r012", history.Ref{ID: "r012"}),
	Entry("a commit", "0123abc", history.Ref{Commit: "0123abc"}),
	Entry("before a commit's latest run", "0123abc~2", history.Ref{Commit: "0123abc", Back: 2}),
)

var _ = DescribeTable("what is not the name of a run", Label("H-06"),
	func(text, reason string) {
		_, err := history.ParseRef(text)
		Expect(err).To(MatchError(ContainSubstring(reason)))
	},
	Entry("nothing", "", "is not the name of a run"),
	Entry("another word", "newest", "is not the name of a run"),
	Entry("a short commit", "0123ab", "is not the name of a run"),
	Entry("a branch without a name", "branch:", "is not the name of a run"),
	Entry("too far back", "latest~1234567", "is not the name of a run"),
	Entry("a negative number", "latest~-1", "is not the name of a run"),
	Entry("before an id", "r0123456789ab~1", "not from the id of a run"),
)

func FuzzRef(f *testing.F) {
	for _, text := range []string{"latest~1", "branch:a~b~0", "r012", "0123abc~2", "~", "branch:~1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := history.ParseRef(text)
		if err != nil {
			return
		}
		again, err := history.ParseRef(ref.String())
		if err != nil || again != ref {
			t.Fatalf("%q is %+v, and its text %q is %+v (%v)", text, ref, ref.String(), again, err)
		}
	})
}

var _ = Describe("The id of a run", Label("H-04"), func() {
	began := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	It("depends on its recording, and on when and where it began", func() {
		id := history.NewID("00", began, "a")
		Expect(id).To(MatchRegexp("^r[0-9a-f]{12}$"))
		Expect(history.NewID("00", began, "a")).To(Equal(id))
		for _, other := range []string{
			history.NewID("01", began, "a"), history.NewID("00", began.Add(1), "a"), history.NewID("00", began, "b"),
			history.NewID("00", time.Time{}, "a"),
		} {
			Expect(other).NotTo(Equal(id))
		}
		Expect(history.NewID("00", time.Time{}, "a")).To(Equal(history.NewID("00", time.Time{}, "b")))
	})
})
