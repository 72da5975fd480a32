// Writes states when they are due: with time.Sleep, or with a time.Ticker.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
)

// By what it was started as, and how it is asked to play.
var players = map[string]func([]state) error{
	"sleep absolute":  sleepUntil,
	"sleep relative":  sleepBetween,
	"ticker absolute": onTicks,
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println(runtime.Version())
		return
	}
	if len(os.Args) != 2 {
		fail(2, "usage: pacing sleep | ticker | --version")
	}
	in := bufio.NewReader(os.Stdin)
	fmt.Println("ready")
	for {
		how, states, err := readPlay(in)
		if err == io.EOF {
			return
		}
		if err != nil {
			fail(1, err)
		}
		play, known := players[os.Args[1]+" "+how]
		if !known {
			fail(1, fmt.Sprintf("%s cannot play %q", os.Args[1], how))
		}
		if err := play(states); err != nil {
			fail(1, err)
		}
	}
}

// sleepUntil sleeps until each deadline, so that late wake-ups do not add up.
func sleepUntil(states []state) error {
	start := time.Now()
	for _, s := range states {
		time.Sleep(time.Until(start.Add(s.due)))
		if _, err := os.Stdout.Write(s.line); err != nil {
			return err
		}
	}
	return nil
}

// sleepBetween sleeps for what lies between two states: every delay moves all that follows.
func sleepBetween(states []state) error {
	var last time.Duration
	for _, s := range states {
		time.Sleep(s.due - last)
		if _, err := os.Stdout.Write(s.line); err != nil {
			return err
		}
		last = s.due
	}
	return nil
}

// onTicks ticks as often as states follow each other at most, and writes with each tick whatever is due at it, to the
// nearest one. It goes by the tick's own time, which is when the tick was due: ticks may be dropped, so that counting them
// would drift.
func onTicks(states []state) error {
	frame := shortest(states)
	if frame <= 0 {
		return errors.New("a state is not due after the one before it, which no ticker can do")
	}
	start := time.Now()
	ticker := time.NewTicker(frame)
	defer ticker.Stop()
	for tick := start; ; tick = <-ticker.C {
		for len(states) > 0 && states[0].due < tick.Sub(start)+frame/2 {
			if _, err := os.Stdout.Write(states[0].line); err != nil {
				return err
			}
			states = states[1:]
		}
		if len(states) == 0 {
			return nil
		}
	}
}

// shortest is how long the state is held that is held shortest.
func shortest(states []state) time.Duration {
	held := time.Second
	for i := 1; i < len(states); i++ {
		held = min(held, states[i].due-states[i-1].due)
	}
	return held
}

func fail(status int, what any) {
	fmt.Fprintln(os.Stderr, "pacing:", what)
	os.Exit(status)
}
