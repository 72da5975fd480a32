// Students and their scores as iterators that sleep; a goroutine for each student.
package main

import (
	"fmt"
	"iter"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"kumite/kit"
)

type params struct {
	Students int `json:"students"`
	Scores   int `json:"scores"`
	DelayMs  int `json:"delay_ms"`
}

type score struct {
	Subject string `json:"subject"`
	Score   int    `json:"score"`
}

var subjects = []score{{"国語", 80}, {"数学", 90}, {"英語", 85}, {"社会", 93}, {"理科", 72}}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println(runtime.Version())
		return
	}
	kit.Serve("go-goroutines", scoresByStudent)
}

func scoresByStudent(job *kit.Job, p params) (kit.Answer, error) {
	delay := time.Duration(p.DelayMs) * time.Millisecond
	source := subjects[:p.Scores]
	scores := make([][]score, p.Students)

	var students sync.WaitGroup
	job.Event("subscribe", "students")
	for i := range every(delay, p.Students) {
		job.Event("next", fmt.Sprint("student ", i+1))
		students.Go(func() { scores[i] = scoresOf(i+1, source, delay, job) })
	}
	job.Event("complete", "students")
	students.Wait()

	byStudent := make(map[string][]score, p.Students)
	for i, scores := range scores {
		byStudent[strconv.Itoa(i+1)] = scores
	}
	return kit.Answer{Result: byStudent}, nil
}

func scoresOf(student int, source []score, delay time.Duration, job *kit.Job) []score {
	scores := make([]score, 0, len(source))
	job.Event("subscribe", fmt.Sprint("student ", student))
	for i := range every(delay, len(source)) {
		job.Event("next", fmt.Sprint("score ", student, " ", source[i].Subject))
		scores = append(scores, source[i])
	}
	job.Event("complete", fmt.Sprint("student ", student))
	return scores
}

// every counts from 0 to count - 1. Each number is due a multiple of the delay after the beginning, so that late timers do
// not add up. (A Ticker drops what is late by a whole delay.)
func every(delay time.Duration, count int) iter.Seq[int] {
	return func(yield func(int) bool) {
		due := time.Now()
		for i := range count {
			due = due.Add(delay)
			time.Sleep(time.Until(due))
			if !yield(i) {
				return
			}
		}
	}
}
