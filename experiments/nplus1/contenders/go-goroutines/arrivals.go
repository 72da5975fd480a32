package main

import (
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"time"
)

// arrivals counts from 0 to count - 1, each number when it has arrived.
type arrivals func(count int) iter.Seq2[int, error]

func by(p params) arrivals {
	switch p.Backend {
	case "timer":
		return byTimer(time.Duration(p.DelayMs) * time.Millisecond)
	case "http":
		return byHTTP
	}
	return func(int) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			yield(0, fmt.Errorf("backend %q is neither timer nor http", p.Backend))
		}
	}
}

// byTimer has each number due a multiple of the delay after the beginning, so that late timers do not add up. (A Ticker
// drops what is late by a whole delay.)
func byTimer(delay time.Duration) arrivals {
	return func(count int) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			due := time.Now()
			for i := range count {
				due = due.Add(delay)
				time.Sleep(time.Until(due))
				if !yield(i, nil) {
					return
				}
			}
		}
	}
}

// byHTTP asks the backend for one after another.
func byHTTP(count int) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range count {
			if !yield(i, get(os.Getenv("BACKEND_URL"))) {
				return
			}
		}
	}
}

var client = func() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	// Of two, its default, a third student's connection would be closed after each answer.
	transport.MaxIdleConnsPerHost = 100
	return &http.Client{Transport: transport}
}()

func get(url string) error {
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.ReadAll(response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return nil
}
