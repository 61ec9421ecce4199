package store_test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/testcontainers/testcontainers-go"

	"github.com/rehearse-dev/rehearse/internal/database"
)

// scratch returns an empty schema on a real server.
func scratch(ctx SpecContext) string {
	GinkgoHelper()
	dsn, drop, err := database.Scratch(ctx, server())
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(drop)
	return dsn
}

// server returns the address of a PostgreSQL server: the one that
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
	const user, password, port = "rehearse", "only-for-tests", "5432/tcp"
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
	c, err := testcontainers.Run(ctx, cmp.Or(os.Getenv(imageVariable), "postgres:17-alpine"),
		testcontainers.WithExposedPorts(port),
		testcontainers.WithEnv(map[string]string{"POSTGRES_USER": user, "POSTGRES_PASSWORD": password, "POSTGRES_DB": "postgres"}),
	)
	container = c
	if err != nil {
		return "", err
	}
	host, err := c.Host(ctx)
	if err != nil {
		return "", err
	}
	mapped, err := c.MappedPort(ctx, port)
	if err != nil {
		return "", err
	}
	dsn = fmt.Sprintf("postgres://%s:%s@%s/postgres?sslmode=disable", user, password, net.JoinHostPort(host, mapped.Port()))
	// The port answers before the server does, and the server starts twice: the
	// first time to be set up.
	_, err = backoff.Retry(ctx, func() (bool, error) {
		db, err := sql.Open("pgx", dsn)
		if err != nil {
			return false, backoff.Permanent(err)
		}
		defer db.Close()
		return true, db.PingContext(ctx)
	}, backoff.WithBackOff(backoff.NewConstantBackOff(200*time.Millisecond)))
	return dsn, err
})

// container is the one that runs, if one does.
var container *testcontainers.DockerContainer

var _ = AfterSuite(func() {
	if container != nil {
		Expect(testcontainers.TerminateContainer(container)).To(Succeed())
	}
})
