// Package main is the process that go-child starts for each call: the event is its argument, the answer goes to standard output.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"kumite/dynamodb/mytest"
)

type answer struct {
	Item          mytest.Item `json:"item"`
	GoMemoryBytes uint64      `json:"go_memory_bytes"`
}

func handle(ctx context.Context, text string) (answer, error) {
	var event events.DynamoDBEvent
	if err := json.Unmarshal([]byte(text), &event); err != nil {
		return answer{}, err
	}
	mytest.Print(os.Stderr, event)
	client, err := mytest.NewClient(ctx)
	if err != nil {
		return answer{}, err
	}
	item, err := mytest.Get(ctx, client)
	if err != nil {
		return answer{}, err
	}
	memory, err := peakMemory()
	return answer{item, memory}, err
}

// peakMemory is that of this program alone; what getrusage says begins with that of the process that started it.
func peakMemory() (uint64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmHWM:" {
			kibibytes, err := strconv.ParseUint(fields[1], 10, 64)
			return kibibytes * 1024, err
		}
	}
	return 0, errors.New("/proc/self/status has no VmHWM")
}

func main() {
	mytest.AnswerVersion()
	if len(os.Args) != 2 {
		log.Fatal("usage: child EVENT")
	}
	answer, err := handle(context.Background(), os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		log.Fatal(err)
	}
}
