// Package container drives an agent that lives in a container, by testcontainers-go.
package container
