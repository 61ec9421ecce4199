package tutor_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestTutor(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "tutor")
}
