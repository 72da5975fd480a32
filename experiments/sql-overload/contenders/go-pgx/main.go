// A web service whose requests make three queries each, over a pool of four connections: net/http and pgxpool.
package main

import (
	"context"
	"errors"
	"flag"
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
	connections       = 4
	queriesPerRequest = 3

	sleep = "select pg_sleep(0.03)"
	scan  = "select count(*) from items where name like '%42%'"
)

func main() {
	version := flag.Bool("version", false, "say the versions and end")
	waiting := flag.Int("waiting", -1, "how many may wait for a connection; any number if negative")
	order := flag.String("order", "fair", "who of them is next: fair for the first, unfair for the last")
	flag.Parse()
	if *version {
		fmt.Printf("%s %s/%s%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, libraries())
		return
	}

	pool, err := pgxpool.New(context.Background(), fmt.Sprintf(
		"host=%s port=%s user=kumite password=%s dbname=kumite pool_max_conns=%d pool_min_conns=%[4]d",
		os.Getenv("DB_HOST"), os.Getenv("DB_PORT"), os.Getenv("DB_PASSWORD"), connections))
	if err != nil {
		log.Fatal(err)
	}

	db := database{pool, &line{free: connections, waitingMax: *waiting, lastFirst: *order == "unfair"}}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /sleep", db.serve(sleep))
	mux.HandleFunc("GET /scan", db.serve(scan))
	mux.HandleFunc("/", http.NotFound) // also for other methods, which would be 405

	server := &http.Server{
		Addr:    net.JoinHostPort(os.Getenv("HOST"), os.Getenv("PORT")),
		Handler: mux,
		// Both run while a client sends nothing, the first on a new connection. No client's pause is so long.
		ReadHeaderTimeout: 2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
	}
	log.Fatal(server.ListenAndServe())
}

// database is a pool and the line before it, which lets in no more than there are connections.
type database struct {
	pool *pgxpool.Pool
	line *line
}

func (db database) serve(sql string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		for done := range queriesPerRequest {
			// The request's context: if the client goes away, nobody waits for a connection or an answer any more.
			if err := db.query(r.Context(), sql); err != nil {
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

func (db database) query(ctx context.Context, sql string) error {
	if err := db.line.enter(ctx); err != nil {
		return err
	}
	defer db.line.leave()
	// Scanning into nil reads the answer and keeps nothing of it.
	return db.pool.QueryRow(ctx, sql).Scan(nil)
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
