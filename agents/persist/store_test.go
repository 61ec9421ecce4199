package persist_test

import (
	"errors"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

// tape is a store that keeps what is written to it in memory, counts its writes, and
// fails the chosen ones.
type tape struct {
	*journal.Memory
	lines  [][]byte
	writes int
	// fail is asked before each write, by its number from 1 and what it is: "append",
	// "checkpoint" or the name of a blob.
	fail func(n int, what string) failure
	dead error
}

// failure is how a write fails; the zero value is that it does not.
type failure struct {
	err error
	// late says that the write was made before it failed, as when the process was
	// killed after it.
	late bool
	// once says that later writes succeed; else the store is dead from then on.
	once bool
}

var errKilled = errors.New("killed")

func newTape() *tape { return &tape{Memory: journal.NewMemory()} }

// reopen returns the store as the next process finds it.
func (t *tape) reopen() *tape { return &tape{Memory: t.Reopen(), lines: t.lines} }

func (t *tape) write(what string, do func() error) error {
	if t.dead != nil {
		return t.dead
	}
	t.writes++
	var f failure
	if t.fail != nil {
		f = t.fail(t.writes, what)
	}
	if f.err != nil && !f.once {
		t.dead = f.err
	}
	if f.err == nil || f.late {
		if err := do(); err != nil {
			return err
		}
	}
	return f.err
}

func (t *tape) Append(records ...[]byte) error {
	return t.write("append", func() error {
		for _, record := range records {
			t.lines = append(t.lines, slices.Clone(record))
		}
		return t.Memory.Append(records...)
	})
}

func (t *tape) Checkpoint(snapshot []byte) error {
	return t.write("checkpoint", func() error { return t.Memory.Checkpoint(snapshot) })
}

func (t *tape) Save(name string, data []byte) error {
	return t.write(name, func() error { return t.Memory.Save(name, data) })
}

// records returns what was appended, decoded.
func (t *tape) records() []state.Record {
	GinkgoHelper()
	var all []state.Record
	for _, line := range t.lines {
		record, err := state.Decode(line)
		Expect(err).NotTo(HaveOccurred())
		all = append(all, record)
	}
	return all
}

// of returns the records of a kind.
func (t *tape) of(kind state.Kind) []state.Record {
	GinkgoHelper()
	return slices.DeleteFunc(t.records(), func(r state.Record) bool { return r.Kind != kind })
}

// text returns the whole journal, as it is.
func (t *tape) text() []string {
	var all []string
	for _, line := range t.lines {
		all = append(all, string(line))
	}
	return all
}
