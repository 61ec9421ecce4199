package export

import (
	"encoding/json"
	"time"
)

// The types of this file are those of Inspect's log, with the members in use. Members without
// "omitempty" are required by its schema.

// version is the version of the format.
const version = 2

type header struct {
	Version     int            `json:"version"`
	Status      string         `json:"status"` // started, success, cancelled or error
	Eval        spec           `json:"eval"`
	Plan        plan           `json:"plan"`
	Results     results        `json:"results"`
	Stats       stats          `json:"stats"`
	Error       *evalError     `json:"error,omitempty"`
	Invalidated bool           `json:"invalidated"`
	Tags        []string       `json:"tags"`
	Metadata    map[string]any `json:"metadata"`
}

// journalStart is the head of a log whose run is under way.
type journalStart struct {
	Version int  `json:"version"`
	Eval    spec `json:"eval"`
	Plan    plan `json:"plan"`
}

type spec struct {
	EvalID              string            `json:"eval_id"`
	RunID               string            `json:"run_id"`
	Created             stamp             `json:"created"`
	Task                string            `json:"task"`
	TaskID              string            `json:"task_id"`
	TaskVersion         int               `json:"task_version"`
	TaskAttribs         struct{}          `json:"task_attribs"`
	TaskArgs            struct{}          `json:"task_args"`
	TaskArgsPassed      struct{}          `json:"task_args_passed"`
	Dataset             dataset           `json:"dataset"`
	Model               string            `json:"model"`
	ModelGenerateConfig struct{}          `json:"model_generate_config"`
	ModelArgs           struct{}          `json:"model_args"`
	Config              config            `json:"config"`
	Packages            map[string]string `json:"packages"`
	Metadata            map[string]any    `json:"metadata"`
	Scorers             []scorer          `json:"scorers"`
}

type dataset struct {
	Name      string   `json:"name"`
	Samples   int      `json:"samples"`
	SampleIDs []string `json:"sample_ids"`
	Shuffled  bool     `json:"shuffled"`
}

type config struct {
	Epochs        int      `json:"epochs"`
	EpochsReducer []string `json:"epochs_reducer"`
}

type scorer struct {
	Name string `json:"name"`
}

type plan struct {
	Name   string   `json:"name"`
	Steps  []step   `json:"steps"`
	Config struct{} `json:"config"`
}

type step struct {
	Solver       string   `json:"solver"`
	Params       struct{} `json:"params"`
	ParamsPassed struct{} `json:"params_passed"`
}

type results struct {
	TotalSamples     int         `json:"total_samples"`
	CompletedSamples int         `json:"completed_samples"`
	Scores           []evalScore `json:"scores"`
}

type evalScore struct {
	Name            string            `json:"name"`
	Scorer          string            `json:"scorer"`
	Reducer         string            `json:"reducer"`
	ScoredSamples   int               `json:"scored_samples"`
	UnscoredSamples int               `json:"unscored_samples"`
	Params          struct{}          `json:"params"`
	Metrics         map[string]metric `json:"metrics"`
}

type metric struct {
	Name   string   `json:"name"`
	Value  float64  `json:"value"`
	Params struct{} `json:"params"`
}

type stats struct {
	StartedAt   stamp            `json:"started_at"`
	CompletedAt stamp            `json:"completed_at"`
	ModelUsage  map[string]usage `json:"model_usage"`
	RoleUsage   map[string]usage `json:"role_usage"`
}

// usage counts tokens; input excludes tokens that were read from or written to a cache.
type usage struct {
	InputTokens           int      `json:"input_tokens"`
	OutputTokens          int      `json:"output_tokens"`
	TotalTokens           int      `json:"total_tokens"`
	InputTokensCacheWrite int      `json:"input_tokens_cache_write,omitempty"`
	InputTokensCacheRead  int      `json:"input_tokens_cache_read,omitempty"`
	ReasoningTokens       int      `json:"reasoning_tokens,omitempty"`
	TotalCost             *float64 `json:"total_cost,omitempty"` // USD
}

type evalError struct {
	Message       string `json:"message"`
	Traceback     string `json:"traceback"`
	TracebackANSI string `json:"traceback_ansi"`
}

type sample struct {
	ID          string                 `json:"id"`
	Epoch       int                    `json:"epoch"`
	Input       string                 `json:"input"`
	Target      string                 `json:"target"`
	Messages    []message              `json:"messages"`
	Output      output                 `json:"output"`
	Scores      map[string]sampleScore `json:"scores,omitempty"`
	Metadata    map[string]any         `json:"metadata"`
	Store       struct{}               `json:"store"`
	Events      []any                  `json:"events"`
	ModelUsage  map[string]usage       `json:"model_usage"`
	RoleUsage   map[string]usage       `json:"role_usage"`
	StartedAt   stamp                  `json:"started_at"`
	CompletedAt stamp                  `json:"completed_at"`
	TotalTime   *float64               `json:"total_time,omitempty"`
	WorkingTime *float64               `json:"working_time,omitempty"`
	UUID        string                 `json:"uuid"`
	Error       *evalError             `json:"error,omitempty"`
	Attachments map[string]string      `json:"attachments"`
}

// sampleSummary is an entry in a list of samples.
type sampleSummary struct {
	ID           string                 `json:"id"`
	Epoch        int                    `json:"epoch"`
	Input        string                 `json:"input"`
	Target       string                 `json:"target"`
	Metadata     map[string]any         `json:"metadata"`
	Scores       map[string]sampleScore `json:"scores,omitempty"`
	ModelUsage   map[string]usage       `json:"model_usage"`
	RoleUsage    map[string]usage       `json:"role_usage"`
	StartedAt    stamp                  `json:"started_at"`
	CompletedAt  stamp                  `json:"completed_at"`
	TotalTime    *float64               `json:"total_time,omitempty"`
	WorkingTime  *float64               `json:"working_time,omitempty"`
	UUID         string                 `json:"uuid"`
	Error        string                 `json:"error,omitempty"`
	Completed    bool                   `json:"completed"`
	MessageCount int                    `json:"message_count"`
}

type sampleScore struct {
	Value       string         `json:"value"`
	Answer      string         `json:"answer,omitempty"`
	Explanation string         `json:"explanation,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
	History     []struct{}     `json:"history"`
}

// message is a message of one of four roles.
type message struct {
	ID         string     `json:"id"`
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Source     string     `json:"source,omitempty"` // input or generate
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	Model      string     `json:"model,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Function   string     `json:"function,omitempty"`
}

type toolCall struct {
	ID         string          `json:"id"`
	Function   string          `json:"function"`
	Arguments  json.RawMessage `json:"arguments"`
	ParseError string          `json:"parse_error,omitempty"`
	Type       string          `json:"type"`
}

type output struct {
	Model      string   `json:"model"`
	Choices    []choice `json:"choices"`
	Completion string   `json:"completion"`
	Usage      *usage   `json:"usage,omitempty"`
	Time       *float64 `json:"time,omitempty"`
	Error      string   `json:"error,omitempty"`
}

type choice struct {
	Message    message `json:"message"`
	StopReason string  `json:"stop_reason"`
}

// logEvent has the fields of all events.
type logEvent struct {
	UUID         string         `json:"uuid"`
	Timestamp    stamp          `json:"timestamp"`
	WorkingStart float64        `json:"working_start"`
	Metadata     map[string]any `json:"metadata,omitempty"`
	Event        string         `json:"event"`
}

type modelEvent struct {
	logEvent
	Model       string     `json:"model"`
	Role        string     `json:"role,omitempty"`
	Input       []message  `json:"input"`
	Tools       []struct{} `json:"tools"`
	ToolChoice  string     `json:"tool_choice"`
	Config      struct{}   `json:"config"`
	Output      output     `json:"output"`
	Retries     int        `json:"retries,omitempty"`
	Error       string     `json:"error,omitempty"`
	Completed   stamp      `json:"completed"`
	WorkingTime *float64   `json:"working_time,omitempty"`
}

type infoEvent struct {
	logEvent
	Source string         `json:"source"`
	Data   map[string]any `json:"data"`
}

type scoreEvent struct {
	logEvent
	Score        sampleScore `json:"score"`
	Intermediate bool        `json:"intermediate"`
}

type errorEvent struct {
	logEvent
	Error evalError `json:"error"`
}

// stamp is a point in time, with microseconds.
type stamp time.Time

// MarshalText implements encoding.TextMarshaler.
func (s stamp) MarshalText() ([]byte, error) {
	return time.Time(s).AppendFormat(nil, "2006-01-02T15:04:05.000000-07:00"), nil
}
