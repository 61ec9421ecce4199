package loopback

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// LineWriter writes whole lines from several goroutines.
type LineWriter struct {
	mu  sync.Mutex
	out io.Writer
}

// NewLineWriter returns a LineWriter on out.
func NewLineWriter(out io.Writer) *LineWriter { return &LineWriter{out: out} }

// Print writes a line.
func (l *LineWriter) Print(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.out, line+"\n") // the server works without its log
}

// LogExchanges returns a handler that prints a line for each exchange of next.
func LogExchanges(out io.Writer, now func() time.Time, next http.Handler) http.Handler {
	lines := NewLineWriter(out)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &statusWriter{ResponseWriter: w}
		began := now()
		defer func() {
			lines.Print(fmt.Sprintf("%s %s %s in %s", sanitize.Line(r.Method, 10), sanitize.Line(r.URL.Path, 60),
				seen, now().Sub(began).Round(time.Millisecond)))
		}()
		next.ServeHTTP(seen, r)
	})
}

// statusWriter records the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *statusWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// String returns the status, or "cut off" for a response that has none.
func (w *statusWriter) String() string {
	if w.status == 0 {
		return "cut off"
	}
	return strconv.Itoa(w.status)
}
