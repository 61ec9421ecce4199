// Package cli makes command-line coding agents usable as backends: each call
// starts the agent's program once, without a terminal, gives it the prompt and
// reads the answer from its event stream.
//
// # Invocations
//
// The prompt goes to standard input where it says "stdin"; everywhere else it is
// an argument as long as it is short (Config.PromptLimit) and cannot be mistaken
// for a flag, and goes to standard input otherwise. Standard input is always
// closed after the prompt, because an agent that waits for more input never ends.
//
//	copilot  -s --output-format json --no-ask-user ACCESS [--model M] -p PROMPT
//	claude   --print --output-format stream-json --verbose ACCESS [--model M] [--append-system-prompt S]  (stdin)
//	codex    exec --json --skip-git-repo-check ACCESS [--model M] -                                       (stdin)
//	gemini   --output-format stream-json ACCESS [--model M] -p PROMPT
//	exec     Config.Command as given; see Config
//
// # Permissions
//
// Nobody is there to approve anything, so an agent may do what Config.Access lets it
// do, and its program denies the rest:
//
//	         read-only                              workspace (the default)             full
//	copilot  --deny-tool=write --deny-tool=shell    --allow-all-tools                   --allow-all-tools --allow-all-paths
//	         --disable-builtin-mcps                                                     --allow-all-urls
//	claude   --permission-mode dontAsk              --permission-mode acceptEdits       --permission-mode bypassPermissions
//	         --tools=Read,Glob,Grep                 --allowedTools=Bash
//	         --strict-mcp-config
//	codex    --sandbox read-only                    --sandbox workspace-write           --sandbox danger-full-access
//	gemini   --approval-mode=default                --approval-mode=auto_edit           --approval-mode=yolo
//	                                                --allowed-tools=run_shell_command
//
// Only codex runs shell commands in a sandbox of the operating system (which also lets
// them write in temporary folders). The others keep their own file tools to the working
// folder under "workspace", and not what a shell command does. Claude refuses "full" to
// root. Own permission flags in Config.ExtraArgs, such as "--allowedTools=Bash,WebFetch",
// replace those of the default level. The flags of claude and codex were tried on 2.1.197
// and 0.169.0; those of copilot and gemini follow their documentation.
//
// A program does not take a denied tool call for a failure: it reports success and exit status
// 0: see llm.Reply.Denials. Run agents where they can do no harm.
//
// # Sessions
//
// Config.Session is continued by "--resume ID" of claude and "resume ID" of codex, before
// the prompt. No session is ever continued but the one whose id is given: a "continue"
// flag takes over whichever session is newest on the machine, even a person's.
package cli
