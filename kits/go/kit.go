// Package kit speaks kumite's task protocol: jobs come in on standard input, answers go out on standard output.
package kit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

const lineBytesMax = 16 << 20

// Answer is what a job gives.
type Answer struct {
	Result  any                    // anything that encoding/json can write
	Metrics map[string]float64     // by name, unit last; may be nil
	After   func() (Answer, error) // if set, makes the answer once the clock has stopped: for what is not to be timed
}

// Job is one job. Its methods may be called from any goroutine.
type Job struct {
	began  time.Time
	wanted bool
	mutex  sync.Mutex
	events [][4]any
}

// Event records that something of this kind happened now, on the operating system's thread that runs the caller.
func (j *Job) Event(kind, id string) {
	if j.wanted {
		j.EventOn(fmt.Sprintf("thread-%d", syscall.Gettid()), kind, id)
	}
}

// EventOn is Event on a thread of this name.
func (j *Job) EventOn(thread, kind, id string) {
	if j.wanted {
		at := time.Since(j.began).Nanoseconds()
		j.mutex.Lock()
		defer j.mutex.Unlock()
		j.events = append(j.events, [4]any{at, thread, kind, id})
	}
}

// Serve does the jobs of standard input, one after the other, until it ends. A job's params are decoded into a P before
// its clock starts. An error or panic of run is the job's answer.
func Serve[P any](name string, run func(*Job, P) (Answer, error)) {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, lineBytesMax)
	lines.Split(func(data []byte, _ bool) (int, []byte, error) { // What the end of the input cuts off is no line.
		if end := bytes.IndexByte(data, '\n'); end >= 0 {
			return end + 1, data[:end], nil
		}
		return 0, nil, nil
	})
	for lines.Scan() {
		var request struct {
			Hello  *int
			Job    int64
			Params json.RawMessage
		}
		err := json.Unmarshal(lines.Bytes(), &request)
		switch {
		case err == nil && request.Hello != nil:
			send(0, map[string]any{
				"hello": 1, "name": name, "runtime": runtime.Version(), "pid": os.Getpid(), "cores": runtime.GOMAXPROCS(0),
			})
		case err == nil && request.Job >= 1:
			send(request.Job, answer(request.Job, request.Params, run))
		default:
			log.Printf("not a request: %.200q", lines.Bytes())
			os.Exit(2)
		}
	}
	if err := lines.Err(); err != nil {
		log.Print("standard input: ", err)
		os.Exit(2)
	}
}

func answer[P any](number int64, raw json.RawMessage, run func(*Job, P) (Answer, error)) (line map[string]any) {
	defer func() {
		if cause := recover(); cause != nil {
			line = failed(number, fmt.Errorf("panic: %v", cause))
		}
	}()
	var params P
	var common struct{ Events bool }
	if err := errors.Join(json.Unmarshal(raw, &params), json.Unmarshal(raw, &common)); err != nil {
		return failed(number, fmt.Errorf("params: %w", err))
	}
	job := Job{wanted: common.Events, events: [][4]any{}, began: time.Now()}
	answer, err := run(&job, params)
	elapsed := time.Since(job.began)
	send(number, map[string]any{"done": number})
	if err == nil && answer.After != nil {
		answer, err = answer.After()
	}
	if err != nil {
		return failed(number, err)
	}
	line = map[string]any{"job": number, "elapsed_ns": elapsed.Nanoseconds(), "result": answer.Result}
	if answer.Metrics != nil {
		line["metrics"] = answer.Metrics
	}
	if job.wanted {
		job.mutex.Lock()
		defer job.mutex.Unlock()
		line["events"] = job.events
	}
	return line
}

func failed(number int64, err error) map[string]any {
	return map[string]any{"job": number, "error": strings.ReplaceAll(err.Error(), "\n", "; ")}
}

func send(number int64, answer map[string]any) {
	line, err := json.Marshal(answer)
	if err == nil && len(line) >= lineBytesMax {
		err = fmt.Errorf("an answer of %d bytes is more than 16 MiB", len(line)+1)
	}
	if err != nil {
		line, _ = json.Marshal(failed(number, err))
	}
	if _, err := os.Stdout.Write(append(line, '\n')); err != nil {
		log.Fatal("standard output: ", err)
	}
}
