// Asks a backend many times, one after another or all at once, with net/http.
package main

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"sync"

	"kumite/kit"
)

type params struct {
	Form     string `json:"form"`
	Jobs     int    `json:"jobs"`
	Requests int    `json:"requests"`
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println(runtime.Version())
		return
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns = 0 // no limit
	transport.MaxIdleConnsPerHost = 1000
	backend := backend{&http.Client{Transport: transport}, os.Getenv("BACKEND_URL")}
	forms := map[string]func(int) ([]string, error){"sequential": backend.sequential, "parallel": backend.parallel}

	kit.Serve("go", func(_ *kit.Job, p params) (kit.Answer, error) {
		fanOut, known := forms[p.Form]
		if !known {
			return kit.Answer{}, fmt.Errorf("form %q is neither sequential nor parallel", p.Form)
		}
		bodies, err := all(p.Jobs, func() ([]string, error) { return fanOut(p.Requests) })
		return kit.Answer{After: func() (kit.Answer, error) { return kit.Answer{Result: counted(bodies)}, nil }}, err
	})
}

type backend struct {
	client *http.Client
	url    string
}

func (b backend) sequential(requests int) ([]string, error) {
	bodies := make([]string, requests)
	for i := range bodies {
		var err error
		if bodies[i], err = b.get(); err != nil {
			return nil, err
		}
	}
	return bodies, nil
}

func (b backend) parallel(requests int) ([]string, error) {
	return all(requests, b.get)
}

func (b backend) get() (string, error) {
	response, err := b.client.Get(b.url)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s", b.url, response.Status)
	}
	return string(body), err
}

// all runs this so many times at the same time, each on a goroutine of its own.
func all[T any](times int, run func() (T, error)) ([]T, error) {
	results, errs := make([]T, times), make([]error, times)
	var running sync.WaitGroup
	for i := range times {
		running.Go(func() { results[i], errs[i] = run() })
	}
	running.Wait()
	// Of many errors one says enough.
	return results, cmp.Or(errs...)
}

func counted(fanOuts [][]string) []map[string]int {
	counts := make([]map[string]int, len(fanOuts))
	for i, bodies := range fanOuts {
		counts[i] = map[string]int{}
		for _, body := range bodies {
			counts[i][body]++
		}
	}
	return counts
}
