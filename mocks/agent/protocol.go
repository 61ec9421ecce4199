package agent

// envAgent is the environment variable of a scripted agent: style|network|address|token.
const envAgent = "REHEARSE_SCRIPTED_AGENT"

// grandchildStyle is the style of the process of the fault "grandchild".
const grandchildStyle = "grandchild"

// hello is the first message of a child.
type hello struct {
	Token string `json:"token"`
	Style string `json:"style"`
	// Args excludes the name of the program; Stdin is the standard input.
	Args  []string `json:"args"`
	Stdin string   `json:"stdin"`
}

// op is an action of the process.
type op string

const (
	opStdout     op = "stdout"     // writes data
	opStderr     op = "stderr"     // writes data
	opExit       op = "exit"       // exits with a status
	opKill       op = "kill"       // crashes
	opSigterm    op = "sigterm"    // ignores and reports SIGTERM from now on
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
	wordDone    word = "done" // the last order was executed
	wordSigterm word = "sigterm"
)
