package main
import ("github.com/spf13/cobra";"github.com/rehearse-dev/rehearse/agents/loop")
const configFile="rehearse.yaml"
func (a *app) mockCommand() *cobra.Command { return &cobra.Command{Use:"mock"} }
func readConfig(string) (loop.Options, error) { return loop.Options{}, nil }
