package view_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/history/store"
	"github.com/rehearse-dev/rehearse/view"
)

// benchRuns is the number of runs in the history of the benchmarks; each has 10 scenarios.
const benchRuns = 10_000

// benchHistory returns a history in memory, which is made once.
var benchHistory = sync.OnceValue(func() view.History {
	ctx := context.Background()
	st, err := store.Open(ctx, "memory:", time.Now)
	check(err)
	for i := range benchRuns {
		at := start.Add(time.Duration(i) * time.Hour)
		e := history.Entry{Run: history.Run{
			ID: history.NewID(fmt.Sprint(i), at, ""), Began: at, At: at, SHA256: fmt.Sprint(i), Verdict: gate.Pass,
			Origin: history.Origin{Branch: fmt.Sprintf("branch-%d", i%100), Commit: fmt.Sprintf("%040x", i)}, Scenarios: history.Counts{Pass: 10},
		}}
		for n := range 10 {
			e.Results = append(e.Results, history.Result{Scenario: compare.Scenario{
				Name: fmt.Sprintf("shop/order-%d", n), Verdict: gate.Pass, Trials: compare.Trials{Planned: 1, Pass: 1},
				Expectations: map[string]string{"digest": "sha256:0"},
				Measures:     []compare.Measure{{Name: "calls", Known: true, Value: new(float64(i % 7)), N: 1}},
			}})
		}
		_, err := st.Add(ctx, &e, false)
		check(err)
	}
	return keep{st}
})

// BenchmarkRuns opens pages of a history of 10,000 runs.
func BenchmarkRuns(b *testing.B) {
	server, err := view.New(view.Options{Token: token, History: func(context.Context) (view.History, error) { return benchHistory(), nil }})
	check(err)
	middle := history.NewID(fmt.Sprint(benchRuns/2), start.Add(benchRuns/2*time.Hour), "")
	for name, path := range map[string]string{
		"first": "/", "last": fmt.Sprintf("/?from=%d", benchRuns-50), "branch": "/?branch=branch-7", "commit": "/?commit=" + fmt.Sprintf("%040x", benchRuns/2),
		"until": "/?until=" + start.AddDate(0, 6, 0).Format(time.DateOnly), "run": "/runs/" + middle, "trend": "/s/shop%2Forder-3",
	} {
		b.Run(name, func(b *testing.B) {
			benchHistory()
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodGet, path, nil)
				r.Host = "127.0.0.1"
				r.Header.Set("Authorization", "Bearer "+token)
				w := httptest.NewRecorder()
				server.Handler().ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body.String())
				}
			}
		})
	}
}
