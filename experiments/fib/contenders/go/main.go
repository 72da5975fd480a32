// A function that computes a Fibonacci number, doubly recursive.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

type event struct {
	N int `json:"n"`
}

type answer struct {
	N         int     `json:"n"`
	Fib       int     `json:"fib"`
	ElapsedMs float64 `json:"elapsed_ms"`
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		build, _ := debug.ReadBuildInfo()
		fmt.Printf("%s, aws-lambda-go %s\n", runtime.Version(), build.Deps[0].Version)
		return
	}
	lambda.Start(handle)
}

func handle(e event) (answer, error) {
	fib(e.N)
	begun := time.Now()
	result := fib(e.N)
	elapsed := time.Since(begun)
	return answer{e.N, result, elapsed.Seconds() * 1000}, nil
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}
