// Command http-app is an example of your own agent: the service desk of a ferry company as an HTTP
// application. It answers passengers with one of OpenAI's models, recognizes them by a cookie, and
// stores the conversations in a file in its home. It uses only the standard library and does
// not depend on rehearse.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// message is one message of a conversation.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// desk has the conversations with all passengers.
type desk struct {
	model string // address of the model's API
	key   string
	file  string // stores the conversations

	mu    sync.Mutex // one question at a time
	talks map[string][]message
}

func main() {
	d := &desk{
		model: cmp.Or(os.Getenv("OPENAI_BASE_URL"), "https://api.openai.com/v1"), key: os.Getenv("OPENAI_API_KEY"),
		file: filepath.Join(os.Getenv("HOME"), "conversations.json"), talks: map[string][]message{},
	}
	if err := d.load(); err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("POST /chat", d.chat)
	server := &http.Server{Addr: ":" + cmp.Or(os.Getenv("PORT"), "8080"), ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// chat answers {"message": "..."} with {"reply": "..."}.
func (d *desk) chat(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Message string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 10_000)).Decode(&asked); err != nil || asked.Message == "" {
		http.Error(w, `write {"message": "..."}`, http.StatusBadRequest)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	passenger := rand.Text()
	if cookie, err := r.Cookie("passenger"); err == nil {
		passenger = cookie.Value
	}
	talk := append(slices.Clone(d.talks[passenger]), message{"user", asked.Message})
	reply, err := d.ask(r.Context(), talk)
	if err == nil {
		d.talks[passenger] = append(talk, message{"assistant", reply})
		err = d.save()
	}
	if err != nil {
		log.Print(err)
		http.Error(w, "The desk is closed just now. Please call 0800 1234.", http.StatusServiceUnavailable)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: "passenger", Value: passenger, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	_ = json.NewEncoder(w).Encode(map[string]string{"reply": reply})
}

// ask calls the model, and retries once if it is overloaded.
func (d *desk) ask(ctx context.Context, talk []message) (string, error) {
	reply, status, err := d.complete(ctx, talk)
	if err == nil && (status == http.StatusTooManyRequests || status >= http.StatusInternalServerError) {
		reply, status, err = d.complete(ctx, talk)
	}
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the model answered with the status %d", status)
	}
	return reply, err
}

// complete makes one call to the model.
func (d *desk) complete(ctx context.Context, talk []message) (reply string, status int, err error) {
	system := message{"system", "You are the desk of a ferry company. Answer in one sentence. Departures: 8:00, 13:30, 18:00."}
	body, err := json.Marshal(map[string]any{"model": "gpt-4.1-mini", "messages": append([]message{system}, talk...)})
	if err != nil {
		return "", 0, fmt.Errorf("write the question: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.model+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", 0, fmt.Errorf("write the question: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+d.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", 0, fmt.Errorf("ask the model: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", resp.StatusCode, nil
	}
	var response struct{ Choices []struct{ Message message } }
	if err := json.NewDecoder(resp.Body).Decode(&response); err != nil || len(response.Choices) == 0 {
		return "", 0, fmt.Errorf("the model's answer cannot be read (%d choices): %w", len(response.Choices), err)
	}
	return response.Choices[0].Message.Content, http.StatusOK, nil
}

// load reads the conversations of earlier processes.
func (d *desk) load() error {
	data, err := os.ReadFile(d.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(data, &d.talks)
	}
	return err
}

// save writes the conversations for later processes.
func (d *desk) save() error {
	data, err := json.Marshal(d.talks)
	if err != nil {
		return err
	}
	return os.WriteFile(d.file, data, 0o600)
}
