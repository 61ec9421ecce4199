package suggest_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestSuggest(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "internal/suggest")
}
