package store_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/history/store"
	"github.com/rehearse-dev/rehearse/internal/database"
)

// The size of the benchmarks' history.
const (
	storedRuns = 500
	scenarios  = 121
	large      = 500 // scenarios of the two newest runs
)

// measured returns run n: five trials of each scenario with twelve measures. Every eighth scenario
// is in real time, so that its result differs in each run.
func measured(n, scenarios int, r *rand.Rand) history.Entry {
	e := entry(n)
	for i := range scenarios {
		x := result(fmt.Sprintf("scenario/number-%03d", i), 3)
		x.RealTime, x.Measures = i%8 == 0, nil
		x.Trials = compare.Trials{Planned: 5, Pass: 5}
		for k := range 12 {
			m := compare.Measure{Name: fmt.Sprintf("measure_%02d", k), Unit: "s", Known: true, N: 5, Value: new(float64(k))}
			if x.RealTime {
				m.Trials = make([]*float64, 5)
				for t := range m.Trials {
					m.Trials[t] = new(r.Float64())
				}
				m.Value = m.Trials[0]
			}
			x.Measures = append(x.Measures, m)
		}
		for k := range 15 {
			x.Expectations[fmt.Sprintf("limits.setting_%d", k)] = "exactly 10"
		}
		e.Results = append(e.Results, x)
	}
	return e
}

// filled returns the address of a history with many runs, which is made once.
var filled = sync.OnceValue(func() string {
	folder, err := os.MkdirTemp("", "rehearse-history-*")
	if err != nil {
		panic(err)
	}
	return filepath.Join(folder, "history.db")
})

func openFilled(b *testing.B, dsn string) *store.Store {
	b.Helper()
	s, err := store.Open(b.Context(), dsn, now)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	if runs, err := s.Runs(b.Context(), history.Filter{Limit: 1}); err != nil || len(runs) > 0 {
		return s
	}
	r := rand.New(rand.NewPCG(1, 2))
	for n := range storedRuns {
		size := scenarios
		if n >= storedRuns-2 {
			size = large
		}
		e := measured(n, size, r)
		if _, err := s.Add(b.Context(), &e, false); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// eachDatabase runs a benchmark in a file and, if there is one, on a server.
func eachDatabase(b *testing.B, bench func(b *testing.B, s *store.Store)) {
	b.Run("file", func(b *testing.B) { bench(b, openFilled(b, filled())) })
	if server := os.Getenv("REHEARSE_TEST_POSTGRES"); server != "" {
		b.Run("postgres", func(b *testing.B) {
			dsn, drop, err := database.Scratch(b.Context(), server)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = drop() })
			bench(b, openFilled(b, dsn))
		})
	}
}

// BenchmarkAdd stores a run of 121 scenarios.
func BenchmarkAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	eachDatabase(b, func(b *testing.B, s *store.Store) {
		n := 0
		var ids []string
		for b.Loop() {
			b.StopTimer()
			n++
			e := measured(-n, scenarios, r)
			e.ID = history.NewID(fmt.Sprint(n, r.Uint64()), time.Time{}, "")
			ids = append(ids, e.ID)
			b.StartTimer()
			if _, err := s.Add(b.Context(), &e, true); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := s.Remove(b.Context(), ids); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkFloorAdd stores the same number of bytes in one row.
func BenchmarkFloorAdd(b *testing.B) {
	eachDatabase(b, func(b *testing.B, s *store.Store) {
		if _, err := store.DB(s).ExecContext(b.Context(), `CREATE TABLE IF NOT EXISTS floor (body text)`); err != nil {
			b.Fatal(err)
		}
		body := make([]byte, 200_000)
		for i := range body {
			body[i] = 'a' + byte(i%23)
		}
		for b.Loop() {
			if _, err := store.DB(s).ExecContext(b.Context(), `INSERT INTO floor VALUES ($1)`, string(body)); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := store.DB(s).ExecContext(b.Context(), `DROP TABLE floor`); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkTrend reads 100 runs of a scenario in real time, and finds changes in six measures.
func BenchmarkTrend(b *testing.B) {
	measures := []string{history.PassRate, "measure_00", "measure_01", "measure_02", "measure_03", "measure_04"}
	eachDatabase(b, func(b *testing.B, s *store.Store) {
		of := history.Identity{Scenario: "scenario/number-000"}
		b.Run("query", func(b *testing.B) {
			for b.Loop() {
				if points, err := s.Trend(b.Context(), of, history.Filter{Limit: 100}, measures...); err != nil || len(points) != 100 {
					b.Fatal(len(points), err)
				}
			}
		})
		b.Run("query and tests", func(b *testing.B) {
			for b.Loop() {
				points, err := s.Trend(b.Context(), of, history.Filter{Limit: 100}, measures...)
				if err != nil {
					b.Fatal(err)
				}
				history.NewTrend(of, points, measures)
			}
		})
		b.Run("renamed", func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Renamed(b.Context(), of); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}

// BenchmarkCompare reads two runs of 500 scenarios and compares them.
func BenchmarkCompare(b *testing.B) {
	eachDatabase(b, func(b *testing.B, s *store.Store) {
		runs, err := s.Runs(b.Context(), history.Filter{Limit: 2})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			before, err := s.Entry(b.Context(), runs[1].ID)
			if err != nil {
				b.Fatal(err)
			}
			after, err := s.Entry(b.Context(), runs[0].ID)
			if err != nil || len(after.Results) != large {
				b.Fatal(len(after.Results), err)
			}
			compare.Compare(before.Baseline(), after.Baseline(), compare.Options{})
		}
	})
}

// BenchmarkFloorCompare compares them without reading them.
func BenchmarkFloorCompare(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	before, after := measured(1, large, r), measured(2, large, r)
	for b.Loop() {
		compare.Compare(before.Baseline(), after.Baseline(), compare.Options{})
	}
}

// BenchmarkFlaky reads 100 runs.
func BenchmarkFlaky(b *testing.B) {
	eachDatabase(b, func(b *testing.B, s *store.Store) {
		for b.Loop() {
			points, err := s.Points(b.Context(), history.Filter{Limit: 100})
			if err != nil {
				b.Fatal(err)
			}
			history.NewFlakiness(points, 2)
		}
	})
}

// BenchmarkOpen opens a history whose tables exist.
func BenchmarkOpen(b *testing.B) {
	openFilled(b, filled())
	for b.Loop() {
		s, err := store.OpenExisting(b.Context(), filled(), now)
		if err != nil {
			b.Fatal(err)
		}
		_ = s.Close()
	}
}
