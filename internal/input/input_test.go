package input_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/input"
)

func TestReadAllIsBoundedAndDoesNotOutliveItsContext(t *testing.T) {
	g := gomega.NewWithT(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	data, err := input.ReadAll(ctx, strings.NewReader("1234"), 4)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(data)).To(gomega.Equal("1234"))
	_, err = input.ReadAll(ctx, strings.NewReader(strings.Repeat("x", 2<<20+1)), 2<<20)
	g.Expect(err).To(gomega.MatchError("it is longer than 2 MB"))

	cancel(errors.New("enough"))
	in, keep := io.Pipe() // nobody ever writes to it
	_, err = input.ReadAll(ctx, in, 4)
	g.Expect(err).To(gomega.MatchError("enough"))
	g.Expect(keep.Close()).To(gomega.Succeed())
}
