// A worker on the kit that does what params.do says, for `kumite kit-test`.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"kumite/kit"
)

type params struct {
	Do      string
	Value   json.RawMessage
	Message string
	Ms      int
}

func main() {
	kit.Serve("go-conformance", do)
}

func do(job *kit.Job, p params) (kit.Answer, error) {
	switch p.Do {
	case "echo":
		return kit.Answer{Result: p.Value}, nil
	case "empty":
	case "fail":
		return kit.Answer{}, errors.New(p.Message)
	case "sleep":
		time.Sleep(time.Duration(p.Ms) * time.Millisecond)
	case "events":
		job.Event("next", "one")
		time.Sleep(2 * time.Millisecond)
		job.Event("complete", "two")
	case "metrics":
		return kit.Answer{Metrics: map[string]float64{"answer_count": 42}}, nil
	default:
		return kit.Answer{}, fmt.Errorf("do what? %q", p.Do)
	}
	return kit.Answer{}, nil
}
