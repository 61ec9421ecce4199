package mocks

import (
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// play sends an exchange to an HTTP client, frame by frame.
func (t *trial) play(w http.ResponseWriter, r *http.Request, x *Exchange) {
	defer x.End()
	for i := range x.frames {
		f := &x.frames[i]
		if t.sleep(r.Context(), x.Delay(i)) != nil {
			abort()
		}
		if x.Send(i, func() error { return writeFrame(w, *f, i == 0) }) != nil {
			abort()
		}
		switch f.End {
		case wire.Continue:
		case wire.Close:
			abort()
		case wire.Reset:
			reset(w)
			return
		case wire.Hang:
			// Let deadlines on the engine's clock expire, then wait for the client to leave.
			_ = t.sleep(r.Context(), clock.Forever)
			select {
			case <-r.Context().Done():
			case <-t.gone.Done():
			}
			abort()
		}
	}
}

// sleep waits on the trial's clock until d has passed, the client leaves or the trial is detached.
func (t *trial) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return clock.Err(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.gone, func() { cancel(errDetached) })()
	return t.engine.opts.Clock.Sleep(ctx, d)
}

// writeFrame sends the head of a first frame, then the data, and flushes both.
func writeFrame(w http.ResponseWriter, f wire.Frame, first bool) error {
	if first && f.Status == 0 {
		return nil
	}
	if first {
		maps.Copy(w.Header(), f.Header)
		w.WriteHeader(f.Status)
	}
	if len(f.Data) > 0 {
		if _, err := w.Write(f.Data); err != nil {
			return err
		}
	}
	return http.NewResponseController(w).Flush()
}

// abort closes the connection (FIN) before the response is complete.
func abort() { panic(http.ErrAbortHandler) }

// reset resets the connection: closing it with a linger time of 0 sends an RST instead of a FIN.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		abort()
	}
	if tcp, ok := conn.(interface{ SetLinger(seconds int) error }); ok {
		_ = tcp.SetLinger(0) // fails only on a closed connection
	}
	_ = conn.Close()
}
