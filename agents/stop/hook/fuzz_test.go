package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/clock"
)

// FuzzInput sends anything to the hook of every host. It always answers what the
// host can read, and refuses only a stop of a session, on a message.
func FuzzInput(f *testing.F) {
	for i := range Hosts() {
		f.Add(uint8(i), []byte(`{"hook_event_name":"Stop","session_id":"s","last_assistant_message":"x"}`))
		f.Add(uint8(i), []byte(`{"sessionId":"s","stopReason":"end_turn","transcriptPath":"/dev/null"}`))
		f.Add(uint8(i), []byte(`{"event_type":"Stop","session_id":"s","message":"x","metadata":{}}`))
		f.Add(uint8(i), []byte(`{"conversation_id":"c","hook_event_name":"stop","status":"completed","loop_count":1e9,"text":"x"}`))
		f.Add(uint8(i), []byte("\xef\xbb\xbf"+`{"session_id":"\u0000","prompt_response":"\ud800","background_tasks":[[]]}`))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		hosts := append(Hosts(), Auto)
		cfg := Config{
			Host: hosts[int(which)%len(hosts)], State: dir, Cap: maxCap, Clock: clock.NewVirtual(),
			Judge: func(message string, _ stop.Options) stop.Verdict {
				if message == "" {
					t.Fatal("an empty message was judged")
				}
				return stop.Verdict{Detections: []stop.Detection{{Real: true, Text: message}}, Steps: []stop.Step{{Description: message}}}
			},
		}
		var out, errs bytes.Buffer
		Run(context.Background(), cfg, bytes.NewReader(data), &out, &errs)
		if strings.Contains(errs.String(), "internal error") {
			t.Fatal(errs.String())
		}
		var in input
		object, err := readInput(bytes.NewReader(data))
		if err == nil {
			in, err = parse(object, cfg.Host)
		}
		if answer := strings.TrimSpace(out.String()); answer != "" {
			var fields map[string]string
			if err := json.Unmarshal([]byte(answer), &fields); err != nil || !utf8.ValidString(answer) {
				t.Fatalf("%q: %v", answer, err)
			}
			reason := fields["reason"] + fields["followup_message"]
			if reason != "" && (err != nil || in.session == "" || in.skip != "" || in.subagent) {
				t.Fatalf("refused: %s", answer)
			}
			if len(reason) > maxReason {
				t.Fatalf("a reason of %d bytes", len(reason))
			}
		}
	})
}

// FuzzTranscript reads anything as the end of a transcript. A line put before it changes neither
// a settled message nor a request that was found.
func FuzzTranscript(f *testing.F) {
	f.Add([]byte(`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"x"}]}}`))
	f.Add([]byte(`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]}}` + "\n"))
	f.Add([]byte(`{"type":"event_msg","payload":{"type":"agent_message","message":"x"}}`))
	f.Add([]byte(`{"type":"assistant.message","data":{"content":"","toolRequests":[{"name":"task_complete","arguments":"{}"}]}}`))
	f.Add([]byte(`{"messages":[{"type":"gemini","content":[{"text":"x"}]}]}`))
	f.Add([]byte(`{"$set":{"messages":[{"$set":{"messages":[]}}]}}`))
	f.Add([]byte(`{"type":"assistant","message":{"role":"model","parts":[{"text":"x","thought":true}]}}`))
	f.Add([]byte("\n\r\n{\n}\x00"))
	f.Add([]byte(`{"type":"user","message":{"content":"<user_query>x</user_query>"}}` + "\n" + `{"type":"user","isMeta":true,"message":{"content":"y"}}`))
	f.Add([]byte(`{"type":"event_msg","payload":{"type":"user_message","message":"<skill><skill x></skill>## My request:<skill"}}`))
	f.Add([]byte(`{"type":"user.message","data":{"content":"<command-name>/x</command-name>","source":"user"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		end := tail{data: data}
		message, settled := end.message()
		request := end.request()
		if !utf8.ValidString(message) || !utf8.ValidString(request) {
			t.Fatalf("invalid text: %q, %q", message, request)
		}
		if len(request) > maxRequest || isFollowUp(request) {
			t.Fatalf("%q was not written by a person", request)
		}
		whole := tail{data, true, true}
		whole.message()
		whole.request()
		if request != "" {
			before := append([]byte(`{"type":"user","message":{"content":"earlier"}}`+"\n"), data...)
			if again := (tail{data: before}).request(); again != request {
				t.Fatalf("%q became %q", request, again)
			}
		}
		if !settled {
			return
		}
		before := append([]byte(`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"earlier"}]}}`+"\n"), data...)
		if again, _ := (tail{data: before}).message(); again != message {
			t.Fatalf("%q became %q", message, again)
		}
	})
}

// FuzzReadLog reads any log. Each line that is read is one stop, and says of no message but
// its own that it was of that.
func FuzzReadLog(f *testing.F) {
	f.Add([]byte(`{"time":"2026-11-22T01:00:00Z","host":"claude","session":"s","message":"m","class":"defers","outcome":"blocked"}` + "\n"))
	f.Add([]byte("{}\n\nx"))
	f.Fuzz(func(t *testing.T, log []byte) {
		judged, err := ReadLog(log)
		if err != nil {
			return
		}
		if len(judged) != bytes.Count(log, []byte("\n")) {
			t.Errorf("%d stops of %q", len(judged), log)
		}
		for _, j := range judged {
			if j.Of("a message") && j.Of("another one") {
				t.Errorf("two messages are that of one stop: %q", log)
			}
			if j.Blocked != (j.Outcome == "blocked") {
				t.Errorf("blocked is %v at %q", j.Blocked, j.Outcome)
			}
		}
	})
}
