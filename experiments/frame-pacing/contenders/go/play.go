package main

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A state is a line to write, and when: counted from the start of the play.
type state struct {
	due  time.Duration
	line []byte
}

// readPlay reads `play HOW N` and its N states; io.EOF if there is no further play.
func readPlay(in *bufio.Reader) (how string, states []state, err error) {
	head, err := in.ReadString('\n')
	if err != nil {
		return "", nil, err
	}
	var count int
	if _, err := fmt.Sscanf(head, "play %s %d\n", &how, &count); err != nil {
		return "", nil, fmt.Errorf("%q is not 'play HOW N': %w", head, err)
	}
	for len(states) < count {
		text, err := in.ReadString('\n')
		if err != nil {
			return "", nil, fmt.Errorf("%d states of %d: %w", len(states), count, err)
		}
		offset, line, _ := strings.Cut(text, " ")
		due, err := strconv.ParseInt(offset, 10, 64)
		if err != nil {
			return "", nil, fmt.Errorf("%q is not 'OFFSET_NS STATE': %w", text, err)
		}
		states = append(states, state{time.Duration(due), []byte(line)})
	}
	return how, states, nil
}
