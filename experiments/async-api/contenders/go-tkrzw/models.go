package main

import (
	"runtime"
	"sync"

	"kumite/async-api/tkrzw"
)

// A model stores records [from, to) as a batch: it begins them all, then checks every status, and gives one of those
// that say failure. What it starts for that, end ends. No batch is larger than size.
type model func(dbm *tkrzw.DBM, size int) (batch func(from, to int) error, end func())

// A setter stores a record in one of the binding's two shapes, and a starter begins to.
type (
	setter  func(dbm *tkrzw.DBM, key, value []byte) error
	starter func(async *tkrzw.AsyncDBM, key, value []byte) tkrzw.Future
)

var models = map[string]model{
	"go-sync":               oneAfterAnother((*tkrzw.DBM).Set),
	"go-sync-copying":       oneAfterAnother((*tkrzw.DBM).SetCopying),
	"go-goroutines":         goroutines((*tkrzw.DBM).Set),
	"go-goroutines-copying": goroutines((*tkrzw.DBM).SetCopying),
	"go-worker-pool":        workerPool,
	"go-async-1":            async((*tkrzw.AsyncDBM).Set, 1),
	"go-async-2":            async((*tkrzw.AsyncDBM).Set, 2),
	"go-async-4":            async((*tkrzw.AsyncDBM).Set, 4),
	"go-async-1-copying":    async((*tkrzw.AsyncDBM).SetCopying, 1),
	"go-async-2-copying":    async((*tkrzw.AsyncDBM).SetCopying, 2),
}

func oneAfterAnother(set setter) model {
	return func(dbm *tkrzw.DBM, _ int) (func(from, to int) error, func()) {
		return func(from, to int) (failure error) {
			for n := from; n < to; n++ {
				key := digits(n)
				if err := set(dbm, key, key); err != nil {
					failure = err
				}
			}
			return failure
		}, func() {}
	}
}

// A goroutine and an unbuffered channel for each record.
func goroutines(set setter) model {
	return func(dbm *tkrzw.DBM, _ int) (func(from, to int) error, func()) {
		return func(from, to int) (failure error) {
			statuses := make([]chan error, 0, to-from)
			for n := from; n < to; n++ {
				status := make(chan error)
				go func() {
					key := digits(n)
					status <- set(dbm, key, key)
				}()
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
				key := digits(task.n)
				*task.status = dbm.Set(key, key)
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
func async(set starter, threads int) model {
	return func(dbm *tkrzw.DBM, _ int) (func(from, to int) error, func()) {
		async := tkrzw.NewAsyncDBM(dbm, threads)
		return func(from, to int) (failure error) {
			futures := make([]tkrzw.Future, 0, to-from)
			for n := from; n < to; n++ {
				key := digits(n)
				futures = append(futures, set(async, key, key))
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
