package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

const patience = time.Second

// errRefused is what one gets who finds the line full, or whose turn has not come in time.
var errRefused = errors.New("no turn in the line")

// line lets in as many as there are free places. Others wait for a turn, for a second at most.
type line struct {
	waitingMax int  // any number if negative
	lastFirst  bool // the last who came is the next, and not the first

	mutex   sync.Mutex
	free    int
	waiting []chan struct{}
}

func (l *line) enter(ctx context.Context) error {
	l.mutex.Lock()
	if l.free > 0 {
		l.free--
		l.mutex.Unlock()
		return nil
	}
	if l.waitingMax >= 0 && len(l.waiting) >= l.waitingMax {
		l.mutex.Unlock()
		return errRefused
	}
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	l.mutex.Unlock()

	ctx, cancel := context.WithTimeoutCause(ctx, patience, errRefused)
	defer cancel()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}

	l.mutex.Lock()
	defer l.mutex.Unlock()
	at := slices.Index(l.waiting, turn)
	if at < 0 {
		// The turn came just when the time was over.
		return nil
	}
	l.waiting = slices.Delete(l.waiting, at, at+1)
	return context.Cause(ctx)
}

func (l *line) leave() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.waiting) == 0 {
		l.free++
		return
	}
	next := 0
	if l.lastFirst {
		next = len(l.waiting) - 1
	}
	close(l.waiting[next])
	l.waiting = slices.Delete(l.waiting, next, next+1)
}
