package http_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
)

// playing is the variable that makes this test program an application; its value is the kind.
const playing = "WEB_TEST_PLAYS"

// play runs the application.
func play() {
	switch os.Getenv(playing) {
	case "exits":
		fmt.Fprintln(os.Stderr, "no configuration")
		os.Exit(3)
	case "ends":
		return
	case "silent": // it listens only on another port, until it is killed
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			os.Exit(9)
		}
		_, _ = l.Accept()
	case "unhealthy":
		listen(http.NotFoundHandler())
	case "v6":
		l, err := net.Listen("tcp", "[::1]:"+os.Getenv("PORT"))
		if err != nil {
			os.Exit(9)
		}
		_ = http.Serve(l, assistant())
	default:
		listen(assistant())
	}
}

func listen(h http.Handler) { panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), h)) }

// count increments a number in a file, which outlives the process, and returns it.
func count(name string) int {
	path := filepath.Join(os.Getenv("HOME"), name)
	data, _ := os.ReadFile(path)
	n, _ := strconv.Atoi(string(data))
	if err := os.WriteFile(path, []byte(strconv.Itoa(n+1)), 0o600); err != nil {
		panic(err)
	}
	return n + 1
}

// assistant answers with the number of its process, the number of the turn, and the turn.
func assistant() http.Handler {
	life, turns := count("lives"), 0
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /chat", func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Say, ID string }
		_ = json.NewDecoder(r.Body).Decode(&request)
		turns++
		switch request.Say {
		case "die":
			os.Exit(7)
		case "die loudly":
			fmt.Fprintln(os.Stderr, "Goodbye.")
			os.Exit(7)
		case "hang":
			<-r.Context().Done()
			return
		case "cut":
			panic(http.ErrAbortHandler)
		}
		fmt.Fprintf(os.Stderr, "heard %s\n", request.Say)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"reply": fmt.Sprintf("life %d, turn %d, session %q: %s", life, turns, request.ID, request.Say),
			"id":    9007199254740993, "env": os.Environ(),
		})
	})
	return mux
}
