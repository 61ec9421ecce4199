package agentfile

import (
	"path"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// interpreters matches programs that run an argument as code.
var interpreters = lazyregexp.New(`^((ba|da|z|k|a|fi|c)?sh|powershell|pwsh|cmd|busybox|python[0-9.]*|pypy[0-9.]*|node|nodejs|deno|bun|` +
	`ruby|perl|php|lua|tclsh|osascript|g?awk|mawk|nawk|sed|gsed|eval|su|ssh)$`)

// code matches an option whose next argument, or whose own rest, is code: -c, -lc, -e, -E,
// -r, -p, --eval, --command, -Command, -EncodedCommand, /c, /k.
var code = lazyregexp.New(`(?i)^(-[a-z]*[cerp]|--(eval|print|expression|execute|command|run|source)|-(encoded)?command|/[ck])$`)

// joined matches an option of that kind that contains its code itself.
var joined = lazyregexp.New(`(?i)^(-[cerp]|--(eval|print|expression|execute|command|run|source)=)`)

// interpreter returns the program that runs argument i of a command as code, or "". It may come after
// other programs, such as sh in "env sh -c".
func interpreter(command []string, i int) string {
	at := slices.IndexFunc(command[:i], func(arg string) bool { return interpreters().MatchString(programName(arg)) })
	if at < 0 {
		return ""
	}
	name := programName(command[at])
	operand := at + 1 + firstOperand(command[at+1:])
	switch {
	case runsFirst(name) && operand == i:
		return name
	case strings.HasSuffix(name, "sh") || operand >= i-1 || operand == at:
		// The arguments after the script of another interpreter are for the script.
		if code().MatchString(command[i-1]) || joined().MatchString(command[i]) {
			return name
		}
	}
	return ""
}

// runsFirst reports whether the first operand of a program is code.
func runsFirst(name string) bool {
	return strings.HasSuffix(name, "awk") || strings.HasSuffix(name, "sed") || name == "eval"
}

// firstOperand returns the index of the first argument that is not an option, or -1.
func firstOperand(args []string) int {
	return slices.IndexFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") })
}

// programName returns the name of a program without its folder and extension.
func programName(arg string) string {
	name := path.Base(strings.ReplaceAll(strings.ToLower(arg), `\`, "/"))
	return strings.TrimSuffix(name, ".exe")
}
