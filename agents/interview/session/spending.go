package session

import "time"

// Spending is the number and cost of the calls of one day.
type Spending struct {
	Day string // in UTC, such as "2026-03-01"
	// Address is the address that caused the calls, as a keyed hash; empty if it is not known, or
	// for the sum of all.
	Address  string
	Calls    int
	MicroEUR int64 // millionths of an EUR
}

// NextDay returns the time at which the next day begins.
func NextDay(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC)
}
