package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhoIsNext(t *testing.T) {
	for lastFirst, want := range map[bool]string{false: "abc", true: "cba"} {
		synctest.Test(t, func(t *testing.T) {
			l := &line{waitingMax: 3, lastFirst: lastFirst}
			turns := make(chan rune, 3)
			for _, name := range "abc" {
				go func() {
					if l.enter(t.Context()) == nil {
						turns <- name
					}
				}()
				synctest.Wait()
			}
			if err := l.enter(t.Context()); !errors.Is(err, errRefused) {
				t.Errorf("the line is full, but: %v", err)
			}
			got := ""
			for range 3 {
				l.leave()
				got += string(<-turns)
			}
			if got != want {
				t.Errorf("last first %t: %s", lastFirst, got)
			}
		})
	}
}

func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{waitingMax: -1}
		began := time.Now()
		if err := l.enter(context.Background()); !errors.Is(err, errRefused) || time.Since(began) != patience {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		l.leave()
		if err := l.enter(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
