// Package web drives an agent that is an HTTP application: each turn is a request, and
// the answer is taken from the response.
package web
