package sessionlist_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/sessionlist"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

func TestSessionlist(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/interview/sessionlist")
}

var began = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)

// exported returns the records of sessions as CSV.
func exported(list ...session.Session) [][]string {
	GinkgoHelper()
	var b bytes.Buffer
	given := false
	Expect(sessionlist.CSV(&b, func() ([]session.Session, error) {
		if given {
			return nil, nil
		}
		given = true
		return list, nil
	})).To(Succeed())
	records, err := csv.NewReader(&b).ReadAll()
	Expect(err).NotTo(HaveOccurred())
	return records
}

var _ = Describe("The filters", func() {
	It("are read from parameters", func() {
		l, err := sessionlist.Read(url.Values{
			"candidate": {"lea"}, "job": {"nurse"}, "invitation": {"3f9a1c22b0"}, "status": {"stuck"}, "from": {"2026-03-01"}, "to": {"2026-03-31"}, "min-cost": {"0.05"}, "max-cost": {""},
			"sort": {"longest"}, "limit": {"7"}, "after": {"12.abc"},
		}, 50)
		Expect(err).NotTo(HaveOccurred())
		least := 0.05
		Expect(l).To(Equal(session.Listing{
			Candidate: "lea", Job: "nurse", Invitation: "3f9a1c22b0", Status: session.StatusStuck, From: began.Truncate(24 * time.Hour), Before: began.Truncate(24*time.Hour).AddDate(0, 0, 31),
			MinCost: &least, Sort: session.Longest, Limit: 7, After: "12.abc",
		}))
		Expect(sessionlist.Read(nil, 50)).To(Equal(session.Listing{Limit: 50}))
	})

	DescribeTable("report what is wrong", func(query, message string) {
		values, err := url.ParseQuery(query)
		Expect(err).NotTo(HaveOccurred())
		_, err = sessionlist.Read(values, 50)
		Expect(err).To(MatchError(ContainSubstring(message)))
	},
		Entry("status", "status=done", "status must be one of open owing stuck limited finished, got \"done\""),
		Entry("order", "sort=id", "sort must be one of newest oldest latest longest dearest"),
		Entry("day", "from=2026-02-30", "from must be a day such as 2026-01-31"), Entry("last day", "to=x", "to must be a day"),
		Entry("time", "before=yesterday", "before must be a time"),
		Entry("cost", "min-cost=-1", "min-cost must be an amount in EUR"), Entry("no number", "max-cost=NaN", "max-cost must be"),
		Entry("infinity", "max-cost=Inf", "max-cost must be"), Entry("limit", "limit=51", "limit must be a number from 1 to 50"),
		Entry("cursor", "after=x", "cursor"), Entry("unknown", "order=asc", "unknown parameter \"order\""), Entry("twice", "limit=1&limit=2", "limit is given 2 times"),
	)
})

var _ = Describe("CSV", func() {
	It("has a documented column for each field, and the start of the id", func() {
		records := exported(session.Session{
			ID: "0123456789abcdef0123456789abcdef", Candidate: "lea", Language: session.French, Step: session.Block1, Phase: session.Owing,
			Owed:     &session.Owed{Failed: "session_limit", Limit: "cost", Since: began.Add(time.Minute)},
			Messages: 9, Calls: 4, Retries: 2, Fallbacks: make([]session.Fallback, 1),
			Spent: quantity.Money{Amount: 0.0123456789, Currency: quantity.EUR}, Created: began, Updated: began.Add(time.Hour),
			Job: &session.Job{ID: "nurse"}, Invitation: "3f9a1c22b0",
		})
		Expect(records).To(HaveLen(2))
		Expect(records[0]).To(Equal(sessionlist.Columns()))
		Expect(strings.Join(records[1], "|")).To(Equal(
			"01234567|lea|fr|limited|BLOC_01|owing|session_limit|cost|9|4|2|1|0.012346|0.012346|0|2026-03-01T09:30:00Z|2026-03-01T09:31:00Z|2026-03-01T10:30:00Z|nurse|3f9a1c22b0"))
	})

	It("leaves an unknown cost empty", func() {
		record := exported(session.Session{ID: "abcdefgh", Unpriced: 1, Spent: quantity.Money{Amount: 0.5, Currency: quantity.EUR}})[1]
		Expect(record[slices.Index(sessionlist.Columns(), "cost_eur")]).To(BeEmpty())
		Expect(record[slices.Index(sessionlist.Columns(), "spent_eur")]).To(Equal("0.500000"))
	})

	DescribeTable("protects spreadsheets from formulas", func(candidate, cell string) {
		Expect(exported(session.Session{ID: "abcdefgh", Candidate: candidate})[1][1]).To(Equal(cell))
	},
		Entry("a formula", `=HYPERLINK("http://x","y")`, `'=HYPERLINK("http://x","y")`), Entry("a sum", "+1", "'+1"), Entry("a difference", "-1+1", "'-1+1"),
		Entry("a function", "@SUM(A1)", "'@SUM(A1)"), Entry("a tab", "\t=1", "'\t=1"), Entry("a line break", "\n=1", "'\n=1"),
		Entry("after spaces", "  =1", "'  =1"), Entry("after a space that does not break", "\u00a0=1", "'\u00a0=1"), Entry("wide", "＝1", "'＝1"),
		Entry("an apostrophe", "'=1", "''=1"), Entry("a pipe", "|calc", "'|calc"), Entry("no UTF-8", "=\xff", "'=\uFFFD"),
		Entry("a name", "lea-1", "lea-1"), Entry("with quotes and lines", "a\"b\nc,d", "a\"b\nc,d"), Entry("nothing", "", ""),
	)

	It("reads the pages up to the limit, and fails with the store", func() {
		var asked []int
		list := func(l session.Listing) (found []session.Session, err error) {
			asked = append(asked, l.Limit)
			if len(asked) == 4 {
				return nil, errors.New("broken")
			}
			for i := range l.Limit {
				found = append(found, session.Session{ID: fmt.Sprintf("%08d", i)})
			}
			return found, nil
		}
		count := func(limit int) (n int, err error) {
			next := sessionlist.Pages(session.Listing{Limit: limit}, list)
			for {
				page, err := next()
				if len(page) == 0 || err != nil {
					return n, err
				}
				n += len(page)
			}
		}
		Expect(count(1500)).To(Equal(1500))
		Expect(asked).To(Equal([]int{1000, 500}))
		_, err := count(0)
		Expect(err).To(MatchError("broken"))
		Expect(asked).To(Equal([]int{1000, 500, 1000, 1000}))
	})
})

func FuzzCSV(f *testing.F) {
	for _, seed := range []string{"lea", "=1", " \t=1", "\xff", "'", "\u200b=1", "\"\n,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, candidate string) {
		var b bytes.Buffer
		pages := [][]session.Session{{{ID: "abcdefgh", Candidate: candidate}}, nil}
		err := sessionlist.CSV(&b, func() (page []session.Session, err error) {
			page, pages = pages[0], pages[1:]
			return page, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(&b).ReadAll()
		if err != nil || len(records) != 2 || len(records[1]) != len(sessionlist.Columns()) {
			t.Fatalf("%q: %q, %v", candidate, records, err)
		}
		for _, cell := range records[1] {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r\n|%") {
				t.Fatalf("%q begins a formula", cell)
			}
		}
	})
}
