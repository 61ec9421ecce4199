package store_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/rehearse-dev/rehearse/agents/interview/store"
)

// scratch is an empty schema on a real server.
func scratch(ctx SpecContext) string {
	GinkgoHelper()
	dsn, drop, err := store.Scratch(ctx, server())
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(drop)
	return dsn
}

// server is the address of a PostgreSQL server: the one that
// REHEARSE_TEST_POSTGRES names, else one in a container. Where neither is to be
// had, the spec is skipped.
func server() string {
	GinkgoHelper()
	if dsn := os.Getenv("REHEARSE_TEST_POSTGRES"); dsn != "" {
		return dsn
	}
	dsn, err := containerServer()
	image := os.Getenv(imageVariable)
	if err != nil && image != "" {
		Fail(fmt.Sprintf("the image %s that %s names does not run: %v", image, imageVariable, err))
	}
	if err != nil {
		Skip("REHEARSE_TEST_POSTGRES names no server, and none runs in a container: " + err.Error())
	}
	return dsn
}

// imageVariable names another image, such as one of another version.
const imageVariable = "REHEARSE_TEST_POSTGRES_IMAGE"

// containerServer starts one server for all specs.
var containerServer = sync.OnceValues(func() (dsn string, err error) {
	const user, password = "rehearse", "only-for-tests"
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	defer func() { // where there is no Docker, the library may panic
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%v", reason)
		}
	}()
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return "", err
	}
	defer provider.Close()
	if err := provider.Health(ctx); err != nil {
		return "", err
	}
	address := func(hostPort string) string {
		return fmt.Sprintf("postgres://%s:%s@%s/postgres?sslmode=disable", user, password, hostPort)
	}
	c, err := testcontainers.Run(ctx, cmp.Or(os.Getenv(imageVariable), "postgres:17-alpine"),
		testcontainers.WithExposedPorts("5432/tcp"),
		testcontainers.WithEnv(map[string]string{"POSTGRES_USER": user, "POSTGRES_PASSWORD": password, "POSTGRES_DB": "postgres"}),
		// It starts twice: once to be set up, on a socket only.
		testcontainers.WithWaitStrategy(wait.ForListeningPort("5432/tcp"), wait.ForLog("ready to accept connections")),
	)
	container = c
	if err != nil {
		return "", err
	}
	hostPort, err := c.PortEndpoint(ctx, "5432/tcp", "")
	if err != nil {
		return "", err
	}
	return address(hostPort), nil
})

// container is the one that runs, if one does.
var container *testcontainers.DockerContainer

var _ = AfterSuite(func() {
	if container != nil {
		Expect(testcontainers.TerminateContainer(container)).To(Succeed())
	}
})
