package mocks

// phase is how far an exchange has come with the line that answers it. Where a line is
// reserved, no other call gets the use of it that this exchange may need.
type phase uint8

const (
	outside   phase = iota // not about the script, such as a list of models; not recorded
	unmatched              // no line answers it
	answering              // a line is reserved, and the delivered answer uses it
	faulted                // a line is reserved, and a fault in place of the answer leaves it to the retry
	faultOnly              // the reserved line is nothing but a fault, which uses it
	used                   // the line is used
	returned               // the line is available again
	closed                 // the exchange has ended
	phases
)

// reserves reports whether an exchange in this phase has a line reserved.
func (p phase) reserves() bool { return p == answering || p == faulted || p == faultOnly }

// uses reports whether the exchange will use the line that it has reserved.
func (p phase) uses() bool { return p == answering || p == faultOnly }

// event is something that happens to an exchange.
type event uint8

const (
	faultFired   event = iota // every fault of the exchange has taken effect
	faultDropped              // a fault cannot show in the answer, which comes without it
	delivered                 // the whole answer is handed over
	frameLost                 // the last frame that was handed over did not get through
	abandoned                 // the client has left, or there is no answer
	ended                     // the player has finished
	events
)

// effect is a set of changes that an event brings about.
type effect uint8

const (
	cancelFaults   effect = 1 << iota // faults that have not taken effect never will
	endReservation                    // the line is no longer reserved
	countUse                          // the line is used once more
	discountUse                       // the line is used once less
	putBack                           // the line is available again, in the state before it
	advanceState                      // the script goes to the state that the line leads to
	closeRecord                       // the record is complete
)

// giveBack are the effects of a reservation that comes to nothing.
const giveBack = cancelFaults | endReservation | putBack

type transition struct {
	to      phase
	effects effect
}

// transitions has what events change. An event that is not listed for a phase changes
// nothing.
var transitions = [phases][events]transition{
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

// next returns what an event makes of an exchange in phase p, and the changes that
// come with it.
func next(p phase, ev event) (phase, effect) {
	t := transitions[p][ev]
	if t == (transition{}) {
		return p, 0
	}
	return t.to, t.effects
}
