package main

import (
	"context"
	"fmt"
	"io"
)

// readAll reads at most limit bytes. A read from a terminal or a pipe cannot be
// ended, so the end of ctx does not wait for it.
func readAll(ctx context.Context, from io.Reader, limit int) ([]byte, error) {
	type input struct {
		data []byte
		err  error
	}
	read := make(chan input, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(from, int64(limit)+1))
		read <- input{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case in := <-read:
		if in.err == nil && len(in.data) > limit {
			in.err = fmt.Errorf("it is longer than %d MB", limit>>20)
		}
		return in.data, in.err
	}
}
