package stop

import "slices"

// signal is the number of a signal of the score.
type signal uint8

// The signals, in the order of the table.
const (
	announceFinal signal = iota
	announceTail
	announceEarly
	announceShort
	presentTail
	endsOpen
	promised
	waits
	nextOwn
	nextOptional
	nextUser
	nextIs
	nextMention
	leftSection
	leftNear
	leftFar
	undoneNear
	partialNear
	comingNear
	requestedWork
	requestedFar
	requestedOffer
	restOfWork
	shortGap
	endGap
	deicticOffer
	needTail
	needSentence
	openBoxes
	pendingRows
	goOnRequest
	proceedRequest
	workOffer
	failuresLeft
	stubsLeft
	laterWork
	asksInput
	offersChoice
	userActs
	completed
	unitClosed
	politeClose
	optionalOffer
	knownFailures
	couldDo
	signals
)

// Definition is a row of the table of signals.
type Definition struct {
	Name    string `json:"name"`
	Meaning string `json:"meaning"`
	// Weight is added to the log-odds that the message defers each time that the signal is
	// seen, at most Most times.
	Weight float64 `json:"weight"`
	Most   int     `json:"most"`
}

// Table lists the signals with their shipped weights, for explaining and fitting them.
func Table() []Definition { return slices.Clone(definitions[:]) }

// Bias is the log-odds that a message without any signal defers.
const Bias = -4.0

var definitions = [signals]Definition{
	announceFinal:  {"announce-final", "the message ends with an action that the agent announces", 6.0, 1},
	announceTail:   {"announce-tail", "an announced action in the last sentences, with nothing that carries it out", 4.0, 1},
	announceEarly:  {"announce-early", "an action announced earlier that nothing later reports as done", 1.0, 1},
	announceShort:  {"announce-short", "the message is short and announces an action", 1.5, 1},
	presentTail:    {"present-tail", "the agent says in the present tense that it does something, at the end of the message", 4.5, 1},
	endsOpen:       {"ends-open", "the last sentence ends with a colon or an ellipsis", 1.0, 1},
	promised:       {"promise", "the agent promises to come back with a result", 5.0, 1},
	waits:          {"waits", "something of the agent's own is still running", 1.0, 1},
	nextOwn:        {"next-own", "next steps listed or named that the agent could take", 5.3, 1},
	nextOptional:   {"next-optional", "next steps that are possible, suggested or recommended", 1.5, 1},
	nextUser:       {"next-user", "next steps for the user", 0.3, 1},
	nextIs:         {"next-is", "one of the last sentences says what comes next", 3.0, 1},
	nextMention:    {"next-mention", "next steps mentioned in a sentence", 0.8, 2},
	leftSection:    {"left-section", "a section or list of work that is left", 4.6, 1},
	leftNear:       {"left-near", "one of the last sentences says that work is left", 2.8, 1},
	leftFar:        {"left-far", "an earlier sentence says that work is left", 0.6, 2},
	undoneNear:     {"undone", "one of the last sentences says that something is not done", 2.8, 1},
	partialNear:    {"partial", "one of the last sentences says that only a part is done", 2.6, 1},
	comingNear:     {"coming", "one of the last sentences says that something will be done", 3.0, 1},
	requestedWork:  {"requested-work", "work that the user asked for is spoken of as not done", 2.2, 1},
	requestedFar:   {"requested-far", "an earlier sentence says that something is not done that the user asked for", 4.0, 1},
	requestedOffer: {"requested-offer", "the agent offers work that the user asked for", 2.5, 1},
	shortGap:       {"short-gap", "the message is short and its end says that work is not done", 2.0, 1},
	endGap:         {"end-gap", "the very last sentence of a longer message says that work is not done", 1.7, 1},
	deicticOffer:   {"offers-change", "the agent asks whether to make the very change it speaks of", 1.3, 1},
	restOfWork:     {"rest", "the agent offers or needs to do the other part of the work", 2.2, 1},
	needSentence:   {"need", "a sentence near the end says what must be done", 1.0, 2},
	needTail:       {"need-tail", "one of the last sentences says what the agent must still do", 2.5, 1},
	openBoxes:      {"open-box", "check boxes that are not ticked", 1.4, 3},
	pendingRows:    {"pending-row", "rows or items marked as not done", 1.4, 3},
	goOnRequest:    {"waits-for-go", "the agent waits for a go", 2.2, 1},
	proceedRequest: {"asks-to-continue", "asks whether to go on with the work", 2.6, 1},
	workOffer:      {"offer", "offers to do something", 0.7, 1},
	failuresLeft:   {"failures-left", "something still fails", 1.0, 1},
	stubsLeft:      {"stub", "something stands in for work to come", 0.5, 1},
	laterWork:      {"later", "work put off to a later time", 0.8, 1},
	asksInput:      {"asks-input", "needs an answer, a choice or a check of the user", -1.5, 1},
	offersChoice:   {"choice", "lets the user choose between options", -0.5, 1},
	userActs:       {"user-acts", "tells the user what to do next", -0.8, 1},
	completed:      {"completed", "says that the work is done", -0.4, 2},
	unitClosed:     {"unit-closed", "the issue, the ticket or the milestone is said to be closed", -2.0, 1},
	politeClose:    {"polite-close", "ends with a polite phrase", -1.0, 1},
	optionalOffer:  {"optional-offer", "what it offers is optional", -0.7, 1},
	knownFailures:  {"known-failures", "the failures are old or expected", -0.8, 1},
	couldDo:        {"could", "says what could be done", 0.2, 1},
}

// evidence is how often each signal was seen, and where first and last.
type evidence struct {
	count    [signals]int
	at, last [signals]Span
}

func (e *evidence) see(s signal, at Span) {
	if e.count[s] == 0 {
		e.at[s] = at
	}
	e.last[s] = at
	e.count[s]++
}

func (e *evidence) seen(s signal) bool { return e.count[s] > 0 }

// sum returns the log-odds that the message defers.
func (e *evidence) sum() float64 {
	sum := Bias
	for s, d := range definitions {
		sum += d.Weight * float64(min(e.count[s], d.Most))
	}
	return sum
}
