package main

import (
	"runtime"
	"sync"

	"kumite/async-api/tkrzw"
)

// A model stores records [from, to) as a batch: it begins them all, then checks every status, and gives one of those
// that say failure. What it starts for that, end ends. No batch is larger than size.
type model func(dbm *tkrzw.DBM, size int) (batch func(from, to int) error, end func())

var models = map[string]model{
	"go-sync":        oneAfterAnother,
	"go-goroutines":  goroutines,
	"go-worker-pool": workerPool,
	"go-async-1":     async(1),
	"go-async-2":     async(2),
	"go-async-4":     async(4),
}

func oneAfterAnother(dbm *tkrzw.DBM, _ int) (func(from, to int) error, func()) {
	return func(from, to int) (failure error) {
		for n := from; n < to; n++ {
			if err := set(dbm, n); err != nil {
				failure = err
			}
		}
		return failure
	}, func() {}
}

// A goroutine and an unbuffered channel for each record.
func goroutines(dbm *tkrzw.DBM, _ int) (func(from, to int) error, func()) {
	return func(from, to int) (failure error) {
		statuses := make([]chan error, 0, to-from)
		for n := from; n < to; n++ {
			status := make(chan error)
			go func() { status <- set(dbm, n) }()
			statuses = append(statuses, status)
		}
		for _, status := range statuses {
			if err := <-status; err != nil {
				failure = err
			}
		}
		return failure
	}, func() {}
}

// As many goroutines as there are processors, all fed by one channel that holds a whole batch.
func workerPool(dbm *tkrzw.DBM, size int) (func(from, to int) error, func()) {
	type task struct {
		n      int
		status *error
	}
	tasks := make(chan task, size)
	var open sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for task := range tasks {
				*task.status = set(dbm, task.n)
				open.Done()
			}
		}()
	}
	return func(from, to int) (failure error) {
		statuses := make([]error, to-from)
		open.Add(len(statuses))
		for i := range statuses {
			tasks <- task{from + i, &statuses[i]}
		}
		open.Wait()
		for _, err := range statuses {
			if err != nil {
				failure = err
			}
		}
		return failure
	}, func() { close(tasks) }
}

// The library's own asynchronous interface.
func async(threads int) model {
	return func(dbm *tkrzw.DBM, _ int) (func(from, to int) error, func()) {
		async := tkrzw.NewAsyncDBM(dbm, threads)
		return func(from, to int) (failure error) {
			futures := make([]tkrzw.Future, 0, to-from)
			for n := from; n < to; n++ {
				key := digits(n)
				futures = append(futures, async.Set(key, key))
			}
			for _, future := range futures {
				if err := future.Get(); err != nil {
					failure = err
				}
			}
			return failure
		}, async.Close
	}
}

func set(dbm *tkrzw.DBM, n int) error {
	key := digits(n)
	return dbm.Set(key, key)
}
