// A web service whose requests make three queries each, over a pool of four connections: net/http and pgxpool.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	queriesPerRequest = 3
	acquireTimeout    = time.Second

	sleep = "select pg_sleep(0.03)"
	scan  = "select count(*) from items where name like '%42%'"
)

// errRefused is what a request gets that the pool gave no connection in time.
var errRefused = errors.New("no connection within " + acquireTimeout.String())

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Printf("%s %s/%s%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, libraries())
		return
	}

	pool, err := pgxpool.New(context.Background(), fmt.Sprintf(
		"host=%s port=%s user=kumite password=kumite dbname=kumite pool_max_conns=4 pool_min_conns=4",
		os.Getenv("DB_HOST"), os.Getenv("DB_PORT")))
	if err != nil {
		log.Fatal(err)
	}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /sleep", serve(pool, sleep))
	mux.HandleFunc("GET /scan", serve(pool, scan))
	mux.HandleFunc("/", http.NotFound) // also for other methods, which would be 405

	server := &http.Server{
		Addr:    net.JoinHostPort("127.0.0.1", os.Getenv("PORT")),
		Handler: mux,
		// Both run while a client sends nothing, the first on a new connection. No client's pause is so long.
		ReadHeaderTimeout: 2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
	}
	log.Fatal(server.ListenAndServe())
}

func serve(pool *pgxpool.Pool, sql string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		for done := range queriesPerRequest {
			// The request's context: if the client goes away, nobody waits for a connection or an answer any more.
			if err := query(r.Context(), pool, sql); err != nil {
				w.WriteHeader(http.StatusInternalServerError)
				if errors.Is(err, errRefused) {
					fmt.Fprintf(w, "refused after %d", done)
				} else {
					fmt.Fprintf(w, "failed after %d", done)
				}
				return
			}
		}
		io.WriteString(w, "done")
	}
}

func query(ctx context.Context, pool *pgxpool.Pool, sql string) error {
	waiting, cancel := context.WithTimeout(ctx, acquireTimeout)
	defer cancel()
	connection, err := pool.Acquire(waiting)
	if errors.Is(err, context.DeadlineExceeded) {
		return errRefused
	}
	if err != nil {
		return err
	}
	defer connection.Release()
	// Scanning into nil reads the answer and keeps nothing of it.
	return connection.QueryRow(ctx, sql).Scan(nil)
}

func libraries() (versions string) {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			if module.Path == "github.com/jackc/pgx/v5" {
				versions += ", pgx " + module.Version
			}
		}
	}
	return versions
}
