package agent

// envAgent makes an executable that calls Main a scripted agent. Its value is
// style|network|address|token.
const envAgent = "REHEARSE_SCRIPTED_AGENT"

// grandchildStyle is the style of the process that the fault "grandchild" leaves behind.
const grandchildStyle = "grandchild"

// hello is the first message of a child.
type hello struct {
	Token string `json:"token"`
	Style string `json:"style"`
	// Args are the arguments after the program's name, Stdin the text on standard input.
	Args  []string `json:"args"`
	Stdin string   `json:"stdin"`
}

// op is an action of the process.
type op string

const (
	opStdout     op = "stdout"     // writes data
	opStderr     op = "stderr"     // writes data
	opExit       op = "exit"       // ends with a status
	opKill       op = "kill"       // dies as by a crash
	opSigterm    op = "sigterm"    // ignores SIGTERM from now on, and reports one
	opGrandchild op = "grandchild" // starts a process that keeps the outputs open
	opFlood      op = "flood"      // writes without end
)

// order is a message to a child.
type order struct {
	Op     op     `json:"op"`
	Data   []byte `json:"data,omitempty"`
	Status int    `json:"status,omitempty"`
}

// word is a message of a child after its hello.
type word string

const (
	wordDone    word = "done" // the last order was carried out
	wordSigterm word = "sigterm"
)
