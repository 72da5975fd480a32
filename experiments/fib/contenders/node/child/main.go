// Computes the Fibonacci number that its argument names, doubly recursive, and prints how long that took.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime"
	"strconv"
	"time"
)

type answer struct {
	N         int     `json:"n"`
	Fib       int     `json:"fib"`
	ElapsedMs float64 `json:"elapsed_ms"`
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: fib N | --version")
	}
	if os.Args[1] == "--version" {
		fmt.Println(runtime.Version())
		return
	}
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fib(n)
	begun := time.Now()
	result := fib(n)
	elapsed := time.Since(begun)
	if err := json.NewEncoder(os.Stdout).Encode(answer{n, result, elapsed.Seconds() * 1000}); err != nil {
		log.Fatal(err)
	}
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}
