package mocks

// phase is the progress of an exchange with its line. A reservation counts as a use of the line, so
// that other calls cannot take it.
type phase uint8

const (
	outside   phase = iota // unrelated to the script, such as a list of models; not recorded
	unmatched              // no line matches
	answering              // a line is reserved, and the delivered answer will use it
	faulted                // a line is reserved, and a fault will leave it to the retry
	faultOnly              // the reserved line is only a fault, which will use it
	used                   // the line is used
	returned               // the line is available again
	closed                 // the exchange has ended
	phases
)

// uses reports whether the exchange will use its reserved line.
func (p phase) uses() bool { return p == answering || p == faultOnly }

// event is something that happens to an exchange.
type event uint8

const (
	faultFired   event = iota // all faults of the exchange have fired
	faultDropped              // a fault cannot show in the answer
	delivered                 // the whole answer was sent
	frameLost                 // the last frame could not be sent
	abandoned                 // the client has left, or there is no answer
	ended                     // the player has finished
	events
)

// effect is a set of changes by an event.
type effect uint8

const (
	cancelFaults   effect = 1 << iota // the armed faults cannot fire any more
	endReservation                    // the line is no longer reserved
	countUse                          // the line is used once more
	discountUse                       // the line is used once less
	putBack                           // the line is available again, in the state before it
	advanceState                      // the script enters the state that follows the line
	closeRecord                       // the record is complete
)

// giveBack has the effects of a cancelled reservation.
const giveBack = cancelFaults | endReservation | putBack

type transition struct {
	to      phase
	effects effect
}

// transitions is the table of transitions. Other events change nothing.
var transitions = [phases][events]transition{
	outside: {
		ended: {closed, cancelFaults},
	},
	unmatched: {
		ended: {closed, closeRecord},
	},
	answering: {
		delivered: {used, endReservation | countUse},
		abandoned: {returned, giveBack},
		ended:     {closed, giveBack | closeRecord},
	},
	faulted: {
		faultFired:   {returned, giveBack},
		faultDropped: {answering, advanceState},
		abandoned:    {returned, giveBack},
		ended:        {closed, giveBack | closeRecord},
	},
	faultOnly: {
		faultFired:   {used, endReservation | countUse},
		faultDropped: {answering, 0},
		delivered:    {used, endReservation | countUse},
		abandoned:    {returned, giveBack},
		ended:        {closed, giveBack | closeRecord},
	},
	used: {
		frameLost: {returned, discountUse | putBack},
		ended:     {closed, cancelFaults | closeRecord},
	},
	returned: {
		ended: {closed, cancelFaults | closeRecord},
	},
}

// next returns the phase after an event in phase p, and its effects.
func next(p phase, ev event) (phase, effect) {
	t := transitions[p][ev]
	if t == (transition{}) {
		return p, 0
	}
	return t.to, t.effects
}
