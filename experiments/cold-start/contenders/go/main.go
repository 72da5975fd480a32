// Functions that say how often they were called, and sleep in one place or the other.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

// A package's variables are set before main: as near to the loading of a class as Go comes.
var loaded = time.Now()

type answer struct {
	Handler     string   `json:"handler"`
	Instance    string   `json:"instance,omitempty"`
	SinceLoadMs *float64 `json:"since_load_ms,omitempty"`
	Count       int      `json:"count"`
}

type handler func(context.Context) (answer, error)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println(runtime.Version())
		return
	}
	// Lambda's log has its own times.
	log.SetFlags(0)
	lambda.Start(function(os.Getenv("_HANDLER")))
}

func function(name string) handler {
	switch name {
	case "pid":
		return pid()
	case "wait-handler":
		return waitHandler(milliseconds("HANDLER_SLEEP_MS"))
	case "wait-init-10":
		return waitInit(name, milliseconds("SLEEP_MS"))
	case "wait-init-2":
		return waitInit(name, milliseconds("SHORT_SLEEP_MS"))
	default:
		log.Fatalf("there is no function %q", name)
		return nil
	}
}

func pid() handler {
	count := 0
	return func(context.Context) (answer, error) {
		count++
		return answer{Handler: "pid", Instance: strconv.Itoa(os.Getpid()), Count: count}, nil
	}
}

func waitHandler(sleep time.Duration) handler {
	count := 0
	return func(context.Context) (answer, error) {
		count++
		sinceLoad := sinceLoadMs()
		log.Printf("before wait: %.0f ms", sinceLoad)
		time.Sleep(sleep)
		log.Printf("after wait: %.0f ms", sinceLoadMs())
		return answer{Handler: "wait-handler", SinceLoadMs: &sinceLoad, Count: count}, nil
	}
}

// What sleeps here does so before lambda.Start: that is where a Go function is made.
func waitInit(name string, sleep time.Duration) handler {
	log.Printf("constructor entered: %.0f ms", sinceLoadMs())
	time.Sleep(sleep)
	log.Printf("constructor left: %.0f ms", sinceLoadMs())
	count := 0
	return func(context.Context) (answer, error) {
		count++
		return answer{Handler: name, Count: count}, nil
	}
}

func sinceLoadMs() float64 {
	return float64(time.Since(loaded).Microseconds()) / 1000
}

func milliseconds(name string) time.Duration {
	ms, err := strconv.ParseFloat(os.Getenv(name), 64)
	if err != nil {
		log.Fatalf("%s: %v", name, err)
	}
	return time.Duration(ms * float64(time.Millisecond))
}
