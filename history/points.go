package history

import (
	"time"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
)

// Filter selects runs. Zero fields select all.
type Filter struct {
	// ID and Commit are prefixes.
	ID, Commit, Branch, SHA256 string
	// All includes runs whose kind does not count in trends. Without it they are selected only by ID or SHA256.
	All bool
	// Until excludes runs that began later, by Run.At.
	Until time.Time
	// Before is like Until for runs that began at that time or later.
	Before time.Time
	// Limit is the number of runs, the newest first, after Skip newer ones; 0 is no limit.
	Limit, Skip int
}

// Point is the result of one scenario in one run.
type Point struct {
	Identity
	Run string // its id
	At  time.Time
	Origin
	// Prices is the date of the run's price table.
	Prices string
	// Digest is the hash of the scenario's files.
	Digest string
	// RealTime is true if the driven system is another process.
	RealTime bool
	Verdict  gate.Verdict
	Trials   Counts
	// Measures are sorted by name, without their Trials. Store.Points leaves them out.
	Measures []PointMeasure
}

// PointMeasure is the mean of a measure over the trials of a scenario.
type PointMeasure struct {
	compare.Measure
	// Alike is true if all trials have the same value.
	Alike bool
}
