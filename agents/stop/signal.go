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
	// Most is the count from which the signal does not weigh more.
	Most int `json:"most"`
}

// Table lists the signals.
func Table() []Definition { return slices.Clone(definitions[:]) }

var definitions = [signals]Definition{
	announceFinal:  {"announce-final", "the message ends with an action that the agent announces", 1},
	announceTail:   {"announce-tail", "an announced action in the last sentences, with nothing that carries it out", 1},
	announceEarly:  {"announce-early", "an action announced earlier that nothing later reports as done", 1},
	announceShort:  {"announce-short", "the message is short and announces an action", 1},
	presentTail:    {"present-tail", "the agent says in the present tense that it does something, at the end of the message", 1},
	endsOpen:       {"ends-open", "the last sentence ends with a colon or an ellipsis", 1},
	promised:       {"promise", "the agent promises to come back with a result", 1},
	waits:          {"waits", "something of the agent's own is still running", 1},
	nextOwn:        {"next-own", "next steps listed or named that the agent could take", 1},
	nextOptional:   {"next-optional", "next steps that are possible, suggested or recommended", 1},
	nextUser:       {"next-user", "next steps for the user", 1},
	nextIs:         {"next-is", "one of the last sentences says what comes next", 1},
	nextMention:    {"next-mention", "next steps mentioned in a sentence", 2},
	leftSection:    {"left-section", "a section or list of work that is left", 1},
	leftNear:       {"left-near", "one of the last sentences says that work is left", 1},
	leftFar:        {"left-far", "an earlier sentence says that work is left", 2},
	undoneNear:     {"undone", "one of the last sentences says that something is not done", 1},
	partialNear:    {"partial", "one of the last sentences says that only a part is done", 1},
	comingNear:     {"coming", "one of the last sentences says that something will be done", 1},
	requestedWork:  {"requested-work", "work that the user asked for is spoken of as not done", 1},
	requestedFar:   {"requested-far", "an earlier sentence says that something is not done that the user asked for", 1},
	requestedOffer: {"requested-offer", "the agent offers work that the user asked for", 1},
	shortGap:       {"short-gap", "the message is short and its end says that work is not done", 1},
	deicticOffer:   {"offers-change", "the agent asks whether to make the very change it speaks of", 1},
	restOfWork:     {"rest", "the agent offers or needs to do the other part of the work", 1},
	needSentence:   {"need", "a sentence near the end says what must be done", 2},
	needTail:       {"need-tail", "one of the last sentences says what the agent must still do", 1},
	openBoxes:      {"open-box", "check boxes that are not ticked", 3},
	pendingRows:    {"pending-row", "rows or items marked as not done", 3},
	goOnRequest:    {"waits-for-go", "the agent waits for a go", 1},
	proceedRequest: {"asks-to-continue", "asks whether to go on with the work", 1},
	workOffer:      {"offer", "offers to do something", 1},
	failuresLeft:   {"failures-left", "something still fails", 1},
	stubsLeft:      {"stub", "something stands in for work to come", 1},
	laterWork:      {"later", "work put off to a later time", 1},
	asksInput:      {"asks-input", "needs an answer, a choice or a check of the user", 1},
	offersChoice:   {"choice", "lets the user choose between options", 1},
	userActs:       {"user-acts", "tells the user what to do next", 1},
	completed:      {"completed", "says that the work is done", 2},
	unitClosed:     {"unit-closed", "the issue, the ticket or the milestone is said to be closed", 1},
	politeClose:    {"polite-close", "ends with a polite phrase", 1},
	optionalOffer:  {"optional-offer", "what it offers is optional", 1},
	knownFailures:  {"known-failures", "the failures are old or expected", 1},
	couldDo:        {"could", "says what could be done", 1},
}

// evidence is how often each signal was seen, and where first.
type evidence struct {
	count [signals]int
	at    [signals]Span
}

func (e *evidence) see(s signal, at Span) {
	if e.count[s] == 0 {
		e.at[s] = at
	}
	e.count[s]++
}

func (e *evidence) seen(s signal) bool { return e.count[s] > 0 }
