package agent

// envAgent makes an executable that calls Main a scripted agent. Its value is
// style|network|address|token.
const envAgent = "REHEARSE_SCRIPTED_AGENT"

// heir is the style of the process that the fault "grandchild" leaves behind.
const heir = "grandchild"

// hello is the first message of a child.
type hello struct {
	Token string `json:"token"`
	Style string `json:"style"`
	// Args are those after the program's name, Stdin what was on standard input.
	Args  []string `json:"args"`
	Stdin string   `json:"stdin"`
}

// op is what a process does.
type op string

const (
	opStdout     op = "stdout"     // writes data
	opStderr     op = "stderr"     // writes data
	opExit       op = "exit"       // ends with a status
	opKill       op = "kill"       // dies as by a crash
	opSigterm    op = "sigterm"    // ignores SIGTERM from now on, and tells of one
	opGrandchild op = "grandchild" // starts a process that holds the outputs open
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
	wordDone    word = "done" // the last order is carried out
	wordSigterm word = "sigterm"
)
