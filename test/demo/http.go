package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// server is the agent as an HTTP application. Sessions are stored in files and outlive the
// process.
type server struct {
	options
	model *model

	mu sync.Mutex // one turn at a time
}

// serve serves until the process is ended.
func (o options) serve(ctx context.Context) error {
	switch o.do {
	case "start-exit":
		return &exitError{7, errors.New("it was told to fail")}
	case "start-hang":
		return hang(false)
	case "start-once":
		lock, err := os.OpenFile(filepath.Join(os.Getenv("HOME"), "lock"), os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return &exitError{6, errors.New("another one is running")}
		}
		_ = lock.Close()
		o.do = "" // no further misbehaviour
	}
	s := &server{options: o, model: newModel(o.api)}
	s.output = "http"
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if o.do == "start-ill" {
			http.Error(w, "the database is not there", http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("POST /chat", s.chat)
	address := net.JoinHostPort(cmp.Or(os.Getenv("HOST"), "127.0.0.1"), os.Getenv("PORT"))
	h := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: time.Second}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, func() { _ = h.Close() })()
	if err := h.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// chat answers a turn, {"session": "...", "message": "..."}, with the answer and the
// session, which is new if the request has none.
func (s *server) chat(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var turn struct{ Session, Message string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&turn); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a := &assistant{options: s.options, model: s.model, out: json.NewEncoder(w), stdout: w, id: cmp.Or(turn.Session, "s1")}
	if _, err := strconv.Atoi(a.id[1:]); err != nil {
		http.Error(w, fmt.Sprintf("there is no session %q", a.id), http.StatusNotFound)
		return
	}
	err := a.load()
	if err == nil {
		err = a.answer(r.Context(), turn.Message)
	}
	if err == nil {
		err = a.save()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}
