// Package cli provides command-line coding agents as backends: each call starts the agent's program once,
// without a terminal, passes the prompt and reads the answer from its stream of events.
//
// # Invocations
//
// The prompt goes to standard input for "stdin" below. For the others it is an argument if it is short
// (Config.PromptLimit) and cannot be mistaken for a flag; otherwise it goes to standard input. Standard
// input is always closed after the prompt, because an agent could wait for more input.
//
//	copilot  -s --output-format json --no-ask-user ACCESS [--model M] -p PROMPT
//	claude   --print --output-format stream-json --verbose ACCESS [--model M] [--append-system-prompt S]  (stdin)
//	codex    exec --json --skip-git-repo-check ACCESS [--model M] -                                       (stdin)
//	gemini   --output-format stream-json ACCESS [--model M] -p PROMPT
//	opencode run --format json ACCESS [--model PROVIDER/M]                                                (stdin)
//	qwen     --output-format stream-json ACCESS [--model M] [--append-system-prompt S]                    (stdin)
//	exec     Config.Command as given; see Config
//
// # Permissions
//
// Nobody can approve anything, so an agent may do what Config.Access allows, and its program denies the
// rest:
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
//	opencode OPENCODE_PERMISSION denies edit,       (its own settings)                  --auto
//	         bash, webfetch, websearch,
//	         external_directory
//	qwen     --approval-mode=default                --approval-mode=auto-edit           --approval-mode=yolo
//	                                                --allowed-tools=run_shell_command
//
// Only codex runs shell commands in a sandbox of the operating system, in which they can also write to
// temporary folders. With "workspace", the others limit their file tools to the working folder, but not
// shell commands. Claude does not accept "full" from root. Permission flags in Config.ExtraArgs, such as
// "--allowedTools=Bash,WebFetch", replace those of the default level. They were tested with
// claude 2.1.197, codex 0.169.0, copilot 1.0.102, gemini 0.61.0 (whose "full" follows its documentation),
// opencode 1.18.33 and qwen 0.24.4.
//
// A program does not fail because of denied tool calls: it reports success and exits with status 0; see
// llm.Reply.Denials. Run agents where they cannot do harm.
//
// # Sessions
//
// Request.Session becomes "--resume ID" for claude and "resume ID" for codex, before the prompt. "Continue"
// flags are not used, because they resume the latest session of the machine, even that of a person. Codex
// reports the usage of the whole session, which Reply.Session returns as its total; the usage of a reply is
// always that of the call. System text in front of the prompt is not repeated in a continued session.
package cli
