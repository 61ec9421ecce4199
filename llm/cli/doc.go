// Package cli makes command-line coding agents usable as backends: each call
// starts the agent's program once, without a terminal, gives it the prompt and
// reads the answer from its event stream.
//
// # Invocations
//
// The prompt goes to standard input where it says "stdin"; everywhere else it is
// an argument as long as it is short (Config.PromptLimit) and cannot be mistaken
// for a flag, and goes to standard input otherwise. Standard input is always
// closed after the prompt, because an agent that waits for more hangs for ever.
//
//	copilot  -s --output-format json --allow-all-tools --no-ask-user [--model M] -p PROMPT
//	claude   --print --output-format stream-json --verbose [--model M] [--append-system-prompt S]  (stdin)
//	codex    exec --json --sandbox workspace-write --skip-git-repo-check [--model M] -             (stdin)
//	gemini   --output-format stream-json --approval-mode=yolo [--model M] -p PROMPT
//	exec     Config.Command as given; see Config
//
// # Permissions
//
// Nobody is there to approve anything, so copilot and gemini run with every tool
// allowed (they would hang or refuse all work otherwise) and codex may write in
// its working folder. claude does not hang: it denies what its own settings do
// not allow, and reports success. Widen or narrow this with Config.ExtraArgs,
// such as "--permission-mode acceptEdits" for claude or "--sandbox read-only" for
// codex; an own --sandbox or --approval-mode replaces the default one. Run agents
// where they can do no harm.
//
// # Sessions
//
// Config.Session is continued by "--resume ID" of claude and "resume ID" of codex, before
// the prompt. No session is ever continued but the one whose id is given: a "continue"
// flag takes over whichever session is newest on the machine, even a person's.
package cli
