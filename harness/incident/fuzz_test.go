package incident_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/harness/incident"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/redact"
)

// The seeds are short, because the engine minimizes each input that finds new code, which is slow for
// long ones.

func FuzzOTLP(f *testing.F) {
	span := func(attrs string) string {
		return `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"a","spanId":"b","attributes":[` + attrs + `]}]}]}]}`
	}
	fuzz(f, incident.OTLP,
		span(`{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"parts\":[{\"type\":\"text\",\"content\":\"x\"}]}]"}}`),
		span(`{"key":"llm.request.type","value":{"stringValue":"chat"}},{"key":"gen_ai.completion.0.content","value":{"stringValue":"x"}}`),
		span(`{"key":"ai.operationId","value":{"stringValue":"x.doStream"}},{"key":"ai.response.text","value":{"stringValue":"x"}}`),
		`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"traceId":"a","spanId":"b","eventName":"gen_ai.choice","body":{"kvlistValue":{"values":[]}}}]}]}]}`)
}

func FuzzClaude(f *testing.F) {
	fuzz(f, incident.Claude, `{"sessionId":"s","type":"user","cwd":"/a","message":{"content":"hi"}}
{"sessionId":"s","type":"assistant","message":{"id":"m","content":[{"type":"tool_use","name":"Read","input":{"p":"/a/b"}}],"usage":{"input_tokens":1}}}
{"sessionId":"s","type":"user","toolUseResult":{"filePath":"/a/b","originalFile":"x"},"message":{"content":[{"type":"tool_result"}]}}`)
}

func FuzzCodex(f *testing.F) {
	fuzz(f, incident.Codex, `{"type":"session_meta","payload":{"id":"s","cwd":"/a"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"text":"hi"}]}}
{"type":"response_item","payload":{"type":"function_call","name":"f","arguments":"{}"}}
{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":2}}}}`)
}

func FuzzRecording(f *testing.F) {
	fuzz(f, incident.Recording, `{"type":"run","schema":"rehearse.recording/1"}
{"type":"scenario","name":"a"}
{"type":"trial","scenario":"a","n":1}
{"type":"message","id":"m1","role":"user","content":"hi"}
{"type":"call","n":1,"messages":["m1"],"reply":"m1"}
{"type":"end","status":"done"}`)
}

func FuzzLangfuse(f *testing.F) {
	fuzz(f, incident.Langfuse, `{"traceId":"t","startTime":"2026-01-02 03:04:05","type":"GENERATION","input":[{"role":"user","content":"hi"}],"output":{"content":"x"},"usageDetails":{"input":1,"output":2,"total":3}}`)
}

func FuzzPromptfoo(f *testing.F) {
	fuzz(f, incident.Promptfoo, `{"results":{"results":[{"prompt":{"raw":"hi"},"response":{"output":"x"},"testCase":{"assert":[{"type":"contains","value":"x"}]}}]}}`)
}

// fuzz checks for any input that nothing panics, and that a scenario that is written is valid YAML
// without secrets.
func fuzz(f *testing.F, format incident.Format, seeds ...string) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		conversations, _, err := incident.Parse(data, format)
		if err != nil {
			return
		}
		for _, c := range conversations {
			sc, err := incident.Write(c, incident.Options{Name: "fuzz"})
			if err != nil {
				continue
			}
			if _, err := yamlsrc.Scalar(sc.Text, "name"); err != nil {
				t.Errorf("the scenario is not YAML: %v\n%s", err, sc.Text)
			}
			if found := (*redact.Redactor)(nil).Find(string(sc.Text)); len(found) > 0 {
				t.Errorf("the scenario has a secret of the kind %s", found[0].Kind)
			}
		}
	})
}
