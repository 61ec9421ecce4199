package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// shells are the shells with completion, and how each loads it.
var shells = []struct{ name, long, example string }{
	{
		name: "bash",
		long: `It needs the package bash-completion (apt install bash-completion, or brew install
bash-completion@2), loaded before the script: with bash alone, Tab shows an error.`,
		example: `  source <(rehearse completion bash)     # in this shell
  echo 'source <(rehearse completion bash)' >> ~/.bashrc     # in every new one
  rehearse completion bash > /etc/bash_completion.d/rehearse     # for all users, on Linux
  rehearse completion bash > "$(brew --prefix)/etc/bash_completion.d/rehearse"     # macOS`,
	},
	{
		name: "zsh",
		long: `It needs the completion system, which "autoload -U compinit; compinit" in ~/.zshrc loads before the
script.`,
		example: `  source <(rehearse completion zsh)     # in this shell
  echo 'source <(rehearse completion zsh)' >> ~/.zshrc     # in every new one
  rehearse completion zsh > "${fpath[1]}/_rehearse"     # or as a file, which is faster
  rehearse completion zsh > "$(brew --prefix)/share/zsh/site-functions/_rehearse"     # macOS`,
	},
	{
		name: "fish",
		long: `It needs nothing else.`,
		example: `  rehearse completion fish | source     # in this shell
  rehearse completion fish > ~/.config/fish/completions/rehearse.fish     # in every new one`,
	},
	{
		name: "powershell",
		long: `It needs PowerShell 5 or later. Press Ctrl+Space for a menu, or Tab for one word after another.`,
		example: `  rehearse completion powershell | Out-String | Invoke-Expression     # in this shell
  rehearse completion powershell >> $PROFILE     # in every new one`,
	},
}

// finishCompletion replaces the texts of cobra's commands for shell completion, and makes the parent refuse
// unknown shells.
func finishCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	parent, _, err := root.Find([]string{"completion"})
	if err != nil {
		return
	}
	parent.Short = "Print a script that completes commands in your shell"
	parent.Long = `completion prints a script for your shell. With it, Tab completes commands, flags, the names of your own
and of shipped scenarios, tags, families, formats, and the folders of runs.

Exit codes: 0 printed, 2 usage.`
	parent.Example = `  source <(rehearse completion bash)
  rehearse completion fish > ~/.config/fish/completions/rehearse.fish`
	parent.Args = unknownCommand
	parent.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	for _, shell := range shells {
		cmd, _, err := parent.Find([]string{shell.name})
		if err != nil || cmd == parent {
			continue
		}
		cmd.Short = fmt.Sprintf("Print the completion script for %s", shell.name)
		cmd.Long = fmt.Sprintf("%s prints the script that completes rehearse in %[1]s.\n\n%s\n\nExit codes: 0 printed, 2 usage.",
			shell.name, shell.long)
		cmd.Example = shell.example
	}
}
