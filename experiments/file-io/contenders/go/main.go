// Reads files and decodes them, one after the other or beside other work.
package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"unicode/utf8"

	"kumite/kit"
)

type params struct {
	Form     string  `json:"form"`
	Files    int     `json:"files"`
	Reads    int     `json:"reads"`
	Threads  int     `json:"threads"`
	InFlight int     `json:"in_flight"`
	IOShare  float64 `json:"io_share"`
	IOTasks  int     `json:"io_tasks"`
	Tasks    int     `json:"tasks"`
	Objects  int     `json:"objects"`
	Steps    int     `json:"steps"`
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println(runtime.Version())
		return
	}
	kit.Serve("go", func(_ *kit.Job, p params) (kit.Answer, error) {
		switch p.Form {
		case "single":
			return single(p)
		case "mixed":
			p.Tasks = math.MaxInt
			return mixed(p)
		case "cpu":
			p.IOShare = 0
			return mixed(p)
		}
		return kit.Answer{}, fmt.Errorf("there is no form %q", p.Form)
	})
}

func single(p params) (kit.Answer, error) {
	texts := make(texts, p.Files)
	for i := range p.Reads {
		text, err := read(i % p.Files)
		if err != nil {
			return kit.Answer{}, err
		}
		texts.keep(i%p.Files, text)
	}
	return kit.Answer{After: func() (kit.Answer, error) {
		return kit.Answer{Result: map[string]any{"read": texts.byFile()}}, nil
	}}, nil
}

func read(file int) (string, error) {
	path := filepath.Join(os.Getenv("DISK_PATH"), strconv.Itoa(file))
	bytes, err := os.ReadFile(path)
	if err == nil && !utf8.Valid(bytes) {
		err = fmt.Errorf("%s is not UTF-8", path)
	}
	return string(bytes), err
}
