// A chat bot that answers "ping" with "pong": a goroutine for each connection, standard library only.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"time"
)

const messageBytesMax = 4096

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Printf("%s %s/%s, net/http\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return
	}

	mux := http.NewServeMux()
	mux.HandleFunc("POST /{$}", hear)

	server := &http.Server{
		Addr:              net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT")),
		Handler:           mux,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
	}
	log.Fatal(server.ListenAndServe())
}

func hear(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, messageBytesMax))
	if err != nil || string(text) != "ping" {
		http.Error(w, "Bad Request", http.StatusBadRequest)
		return
	}
	// Set, so that net/http need not guess it from the body.
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	io.WriteString(w, "pong")
}
