package mocks

import (
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// StorageFault is a fault of the requests about files and batches, which are not calls.
type StorageFault struct {
	// Request is the kind of request, such as "POST /v1/files" or "GET /v1/batches/*"; * is an id.
	Request string `yaml:"request" json:"request"`
	// Fault fires at the first Fault.Times requests. If it replaces the answer, the request changes no file and no batch,
	// as if it had not arrived; if it cuts the answer off, the request takes effect.
	Fault Fault `yaml:"fault" json:"fault"`
}

// storageFault is a StorageFault, compiled.
type storageFault struct {
	*StorageFault
	name  string // "storage[0]"
	built wire.Fault
}

func (f *storageFault) times() int { return max(f.Fault.Times, 1) }

func compileStorage(given []StorageFault) ([]storageFault, error) {
	compiled := make([]storageFault, len(given))
	for i := range given {
		built, err := wire.NewFault(given[i].Fault.spec())
		if err != nil {
			return nil, err
		}
		compiled[i] = storageFault{&given[i], fmt.Sprintf("storage[%d]", i), built}
	}
	return compiled, nil
}

// storage checks the faults of files and batches.
func (v *validator) storage(s *Script) {
	for i := range s.Storage {
		f, at := &s.Storage[i], fmt.Sprintf("storage[%d]", i)
		v.word(at+".request", "a request about files or batches", f.Request, wire.StorageRequests())
		if !v.word(at+".fault.kind", "a fault of such a request", f.Fault.Kind, wire.StoredFaults()) {
			continue
		}
		v.faultOptions(at+".fault", &f.Fault)
		if f.Fault.Times < 0 {
			v.add(at+".fault.times", "must be at least 1, not %d", f.Fault.Times)
		}
	}
}

// storedAnswer encodes an answer of the storage. Faults that replace the answer do not ask for it.
type storedAnswer struct {
	wire.Codec
	respond func() []wire.Frame
}

func (a storedAnswer) Encode(wire.Call, wire.Completion) []wire.Frame { return a.respond() }

// StorageRecord describes one request about files and batches.
type StorageRecord struct {
	// Request is the kind of request, such as "GET /v1/batches/*".
	Request string
	Status  int // of HTTP; 0 without a response head
	// Line is the entry of the script with the fault that was planned for this request, such as "storage[0]", and Fault its
	// kind. Fired reports whether the first frame that shows it was sent.
	Line, Fault string
	Fired       bool
	// Early is true if the request came before the wait was over that the previous answer to this kind of request asked for.
	Early bool
}

// storageRecords has the requests of a trial about files and batches, in detail if its script has faults for them.
type storageRecords struct {
	all []*StorageRecord
	// kinds has the kinds of all requests, also of a script without such faults.
	kinds map[string]bool
	// waits has the ends of the waits that the last answers asked for, by the kind of request.
	waits map[string]time.Time
}

// planStored plans the answer of x to a kind of request, with the first fault of the script for it that is left.
func (e *Engine) planStored(x *Exchange, codec wire.Codec, request string, respond func() []wire.Frame) {
	e.mu.Lock()
	if e.storageRecords.kinds == nil {
		e.storageRecords.kinds = map[string]bool{}
	}
	e.storageRecords.kinds[request] = true
	e.mu.Unlock()
	if len(e.program.storage) == 0 {
		x.send(respond())
		return
	}
	built := e.scheduleStored(x, request)
	var frames []wire.Frame
	shown := false
	if built == nil {
		frames = respond()
	} else {
		frames, shown = built(storedAnswer{codec, respond}, wire.Call{}, wire.Completion{})
	}
	x.send(frames)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case shown:
		x.faults[0].frame = 0
	case built != nil:
		x.unschedule(whyHidden)
		x.stored.Line = ""
	}
	x.stored.Status, x.stored.Fault = x.record.Status, x.record.Fault
}

// scheduleStored records a request, and returns its fault or nil.
func (e *Engine) scheduleStored(x *Exchange, request string) wire.Fault {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.recordStored(x, request)
	for i := range e.program.storage {
		f, count := &e.program.storage[i], &e.storageFaults[i]
		if f.Request == request && count.fired+count.armed < f.times() {
			x.stored.Line = f.name
			x.schedule(scheduledFault{count: count, kind: f.Fault.Kind, fault: &f.Fault, built: f.built})
			return f.built
		}
	}
	return nil
}

func (e *Engine) recordStored(x *Exchange, request string) {
	r := &e.storageRecords
	wait := r.waits[request]
	delete(r.waits, request)
	x.stored = &StorageRecord{Request: request, Early: !wait.IsZero() && e.opts.Clock.Now().Before(wait)}
	r.all = append(r.all, x.stored)
	if keep := e.opts.Keep; keep > 0 && len(r.all) > keep {
		r.all = r.all[1:]
	}
}

// waitForStored notes the wait that the answer to a request asks for.
func (e *Engine) waitForStored(x *Exchange, f *wire.Frame) {
	r := &e.storageRecords
	if until := e.waitEnd(f); !until.IsZero() {
		if r.waits == nil {
			r.waits = map[string]time.Time{}
		}
		r.waits[x.stored.Request] = until
	}
}

// list returns copies of the records, in order of arrival.
func (r *storageRecords) list() (all []StorageRecord) {
	for _, record := range r.all {
		all = append(all, *record)
	}
	return all
}

// unfiredStored describes the faults of files and batches that fired less often than planned.
func (e *Engine) unfiredStored() (all []string) {
	for i := range e.program.storage {
		if f := &e.program.storage[i]; e.storageFaults[i].fired < f.times() {
			all = append(all, fmt.Sprintf("%s: %s (fired %d of %d)", f.name, f.Fault.Kind, e.storageFaults[i].fired, f.times()))
		}
	}
	return all
}
