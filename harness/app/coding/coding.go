// Package coding drives the programs of real coding agents, Claude Code and Codex,
// against the scripted backend, with hooks and tools, in a throw-away workspace.
package coding
