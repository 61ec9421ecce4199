package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// variable is an environment variable that the program reads, or sets for the programs that it starts.
type variable struct{ name, meaning string }

// read are the variables that the program reads.
var readVariables = []variable{
	{
		"OPENAI_API_KEY, OPENAI_BASE_URL",
		"The API of the backend openai: a key, and another address than OpenAI's. ANTHROPIC_API_KEY, GEMINI_API_KEY and " +
			"others are those of the coding agents that are started.",
	},
	{"REHEARSE_OFFLINE", "1 forbids every call to a model on another machine, whatever else is set."},
	{"REHEARSE_HISTORY", "The default of --history: a file, a PostgreSQL address, or none."},
	{"REHEARSE_QUEUE", "The default of --queue: the PostgreSQL address of a fleet."},
	{"REHEARSE_STORE", "The default of --store: the store of interviews."},
	{"REHEARSE_TOKEN", "The token of an interview server and of rehearse view."},
	{
		"REHEARSE_CLAUDE, REHEARSE_CODEX, REHEARSE_COPILOT, REHEARSE_GEMINI, REHEARSE_OPENCODE, REHEARSE_QWEN",
		"The programs of coding agents, if they are not in PATH under their own names.",
	},
	{"REHEARSE_PROGRAM", "The program that scenarios of coding agents start when they type rehearse, for tests of this program."},
	{"REHEARSE_GUARD", "Turns the process into the hook of a coding agent; set by rehearse guard --install and by scenarios."},
	{"CI", "If set, missing snapshots are a failure instead of being written."},
	{
		"GITHUB_ACTOR, GITHUB_SHA, GITHUB_REF_NAME, GITHUB_HEAD_REF, GITHUB_RUN_ID; CI_COMMIT_SHA, CI_COMMIT_REF_NAME, " +
			"CI_JOB_URL, GITLAB_USER_LOGIN; BUILDKITE_COMMIT, BUILDKITE_BRANCH, BUILDKITE_BUILD_URL, " +
			"BUILDKITE_BUILD_CREATOR",
		"Who and what made a run, for its history and its statement.",
	},
	{"JOB_COMPLETION_INDEX", "The shard of run --shard job/N in an Indexed Job of Kubernetes."},
	{"SSH_AUTH_SOCK", "The SSH agent with the key of run --sign KEY.pub."},
	{"OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_…", "Where an interview server and workers send spans and metrics."},
	{"NO_COLOR, CLICOLOR_FORCE, TERM", "Colours: none, everywhere, and none for dumb; --color has priority."},
	{"GOGC", "The garbage collector of Go; without it the program chooses."},
}

// setVariables are the variables that the program sets for those that it starts.
var setVariables = []variable{
	{
		"OPENAI_BASE_URL, OPENAI_API_KEY, ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY, GOOGLE_GEMINI_BASE_URL, …",
		"For an agent under test: the address of the scripted backend, and a key that works nowhere else.",
	},
	{
		"REHEARSE_MCP_SERVERS, REHEARSE_MCP_NAME_URL, REHEARSE_MCP_NAME_COMMAND",
		"For an agent under test: its scripted MCP servers, as JSON and one by one.",
	},
	{"REHEARSE_TURN", "For a program that is started for each turn: the number of the turn, from 1."},
	{"REHEARSE_CALL", "For a command-line agent: the id of the call, which the tools that it starts inherit."},
	{"REHEARSE_LOOP", "For the agents of rehearse loop: the path of its transcript."},
	{
		"REHEARSE_TASK, REHEARSE_TASK_KEY, REHEARSE_ATTEMPT, REHEARSE_SEGMENT",
		"For the command of a worker: the task, a key that repeated attempts share, and which attempt it is.",
	},
	{"REHEARSE_EVENT, REHEARSE_PLAN", "For supervise --notify: what happened, in which plan."},
}

// environmentTopic is the help topic "environment".
func environmentTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("Environment variables that rehearse reads:\n\n")
	list := func(variables []variable) {
		for _, v := range variables {
			b.WriteString(v.name + "\n    " + v.meaning + "\n")
		}
	}
	list(readVariables)
	b.WriteString("\nVariables that it sets for the programs that it starts:\n\n")
	list(setVariables)
	return &cobra.Command{Use: "environment", Short: "Environment variables", Long: strings.TrimSuffix(b.String(), "\n")}
}
