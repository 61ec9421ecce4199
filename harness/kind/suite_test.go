package kind_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestKind(t *testing.T) {
	RegisterFailHandler(Fail)
}
