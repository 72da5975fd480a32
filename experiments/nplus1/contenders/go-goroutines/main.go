// Students and their scores as iterators that wait; a goroutine for each student.
package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"

	"kumite/kit"
)

type params struct {
	Students int    `json:"students"`
	Scores   int    `json:"scores"`
	DelayMs  int    `json:"delay_ms"`
	Backend  string `json:"backend"`
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
	arriving := by(p)
	source := subjects[:p.Scores]
	scores, errs := make([][]score, p.Students), make([]error, p.Students+1)

	var students sync.WaitGroup
	job.Event("subscribe", "students")
	for i, err := range arriving(p.Students) {
		if err != nil {
			errs[p.Students] = err
			break
		}
		job.Event("next", fmt.Sprint("student ", i+1))
		students.Go(func() { scores[i], errs[i] = scoresOf(i+1, source, arriving, job) })
	}
	job.Event("complete", "students")
	students.Wait()

	byStudent := make(map[string][]score, p.Students)
	for i, scores := range scores {
		byStudent[strconv.Itoa(i+1)] = scores
	}
	return kit.Answer{Result: byStudent}, cmp.Or(errs...)
}

func scoresOf(student int, source []score, arriving arrivals, job *kit.Job) ([]score, error) {
	scores := make([]score, 0, len(source))
	job.Event("subscribe", fmt.Sprint("student ", student))
	for i, err := range arriving(len(source)) {
		if err != nil {
			return nil, err
		}
		job.Event("next", fmt.Sprint("score ", student, " ", source[i].Subject))
		scores = append(scores, source[i])
	}
	job.Event("complete", fmt.Sprint("student ", student))
	return scores, nil
}
