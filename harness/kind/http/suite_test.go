package http_test

import (
	"os"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestMain(m *testing.M) {
	if _, plays := os.LookupEnv(playing); plays {
		play()
		return
	}
	os.Exit(m.Run())
}

func TestWeb(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(30 * time.Second) // processes on a busy machine
	RunSpecs(t, "harness/kind/http")
}
