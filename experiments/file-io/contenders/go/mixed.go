package main

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"

	"kumite/kit"
)

// The checksum is of so many CPU tasks.
const checked = 10

// A mix is reading beside other work, or that work alone. Of its tasks so many are in flight: in the queue, with a
// worker, or reading.
type mix struct {
	params
	texts    texts
	queue    chan int
	inFlight sync.WaitGroup
	drawn    atomic.Int64
	ioDone   atomic.Int64
	cpuDone  atomic.Int64
	checksum atomic.Uint32
	ended    chan int64 // how many CPU tasks were done when the last task was that counts
	failed   chan error
}

func mixed(p params) (kit.Answer, error) {
	runtime.GOMAXPROCS(p.Threads)
	gcBefore := gcSeconds()
	m := &mix{
		params: p, texts: make(texts, p.Files),
		queue: make(chan int, p.InFlight), ended: make(chan int64, 1), failed: make(chan error, p.InFlight),
	}
	for range p.InFlight {
		m.submitNext()
	}
	for range p.Threads {
		go m.work()
	}
	finish := func() {
		m.inFlight.Wait()
		close(m.queue)
	}
	select {
	case err := <-m.failed:
		finish()
		return kit.Answer{}, err
	case cpuTasks := <-m.ended:
		gcMs := (gcSeconds() - gcBefore) * 1000
		return kit.Answer{After: func() (kit.Answer, error) {
			finish()
			return kit.Answer{
				Result:  map[string]any{"read": m.texts.byFile(), "checksum": m.checksum.Load()},
				Metrics: map[string]float64{"cpu_tasks": float64(cpuTasks), "gc_ms": gcMs},
			}, nil
		}}, nil
	}
}

// There is always room in the queue: it is as long as what may be in flight.
func (m *mix) submitNext() {
	if m.ioDone.Load() >= int64(m.IOTasks) || len(m.failed) > 0 {
		return
	}
	if task := int(m.drawn.Add(1) - 1); task < m.Tasks {
		m.inFlight.Add(1)
		m.queue <- task
	}
}

// An IO task gets a goroutine of its own, so that the worker goes on while it waits.
func (m *mix) work() {
	for task := range m.queue {
		ioBefore := m.ioBefore(task)
		if m.ioBefore(task+1) > ioBefore {
			go m.readTask(ioBefore)
		} else {
			m.computeTask(task - ioBefore)
		}
	}
}

// ioBefore counts the IO tasks before this one.
func (m *mix) ioBefore(task int) int {
	return int(float64(task) * m.IOShare)
}

func (m *mix) readTask(number int) {
	defer m.inFlight.Done()
	file := number % m.Files
	text, err := read(file)
	if err != nil {
		m.failed <- err
		return
	}
	m.texts.keep(file, text)
	if m.ioDone.Add(1) == int64(m.IOTasks) {
		m.ended <- m.cpuDone.Load()
	}
	m.submitNext()
}

type object struct{ number uint32 }

func (m *mix) computeTask(number int) {
	defer m.inFlight.Done()
	objects := make([]*object, 0, m.Objects)
	for i := range m.Objects {
		objects = append(objects, &object{uint32(number + i)})
	}
	var x uint32
	for _, object := range objects {
		x += object.number
	}
	for range m.Steps {
		x = (x^x>>15)*1664525 + 1013904223
	}
	if number < checked {
		m.xor(x)
	}
	if done := m.cpuDone.Add(1); done == int64(m.Tasks) {
		m.ended <- done
	}
	m.submitNext()
}

func (m *mix) xor(x uint32) {
	for {
		if sum := m.checksum.Load(); m.checksum.CompareAndSwap(sum, sum^x) {
			return
		}
	}
}

// gcSeconds is the CPU time that garbage collection took so far, by the runtime's estimate.
func gcSeconds() float64 {
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64()
}
