// Package tkrzw is a thin binding of Tkrzw's C interface, with the calls of tkrzw-go in two shapes. Set passes Go's
// memory: storing crosses the border to C once, storing asynchronously twice, to start and to get the status. SetCopying
// is shaped like tkrzw-go: it copies key and value to C's memory first and frees them after, which makes five and six.
package tkrzw

/*
#cgo LDFLAGS: -ltkrzw
#include <tkrzw_langc.h>

// A status belongs to the thread: it must be asked for before the border is crossed again.
static int32_t last(bool done) {
	return done ? TKRZW_STATUS_SUCCESS : tkrzw_get_last_status_code();
}

static int32_t set(TkrzwDBM* dbm, const char* key, int32_t key_size, const char* value, int32_t value_size) {
	return last(tkrzw_dbm_set(dbm, key, key_size, value, value_size, true));
}

static int32_t get_and_free(TkrzwFuture* future) {
	tkrzw_future_get(future);
	int32_t status = tkrzw_get_last_status_code();
	tkrzw_future_free(future);
	return status;
}
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// Version is the library's.
func Version() string {
	return C.GoString(C.TKRZW_PACKAGE_VERSION)
}

// Status says why an operation failed.
type Status int32

func (s Status) Error() string {
	return "tkrzw: " + C.GoString(C.tkrzw_status_code_name(C.int32_t(s)))
}

func status(code C.int32_t) error {
	if code == C.TKRZW_STATUS_SUCCESS {
		return nil
	}
	return Status(code)
}

// DBM is an open database. Its methods may be called from any goroutine.
type DBM struct{ dbm *C.TkrzwDBM }

// Open opens a file, of the kind that its suffix says.
func Open(path string, writable bool, params string) (*DBM, error) {
	cPath, cParams := C.CString(path), C.CString(params)
	defer C.free(unsafe.Pointer(cPath))
	defer C.free(unsafe.Pointer(cParams))
	dbm := C.tkrzw_dbm_open(cPath, C.bool(writable), cParams)
	if dbm == nil {
		return nil, fmt.Errorf("tkrzw: %s cannot be opened", path)
	}
	return &DBM{dbm}, nil
}

// Close closes the file. Asynchronous adapters must be closed before.
func (d *DBM) Close() error {
	return status(C.last(C.tkrzw_dbm_close(d.dbm)))
}

// Set stores a record.
func (d *DBM) Set(key, value []byte) error {
	k, kSize := bytes(key)
	v, vSize := bytes(value)
	return status(C.set(d.dbm, k, kSize, v, vSize))
}

// SetCopying stores a record, of which C is given copies.
func (d *DBM) SetCopying(key, value []byte) error {
	k, v := C.CBytes(key), C.CBytes(value)
	defer C.free(k)
	defer C.free(v)
	return status(C.set(d.dbm, (*C.char)(k), C.int32_t(len(key)), (*C.char)(v), C.int32_t(len(value))))
}

// Get gives the value of a key, if there is one.
func (d *DBM) Get(key []byte) (value []byte, found bool) {
	k, kSize := bytes(key)
	var size C.int32_t
	v := C.tkrzw_dbm_get(d.dbm, k, kSize, &size)
	if v == nil {
		return nil, false
	}
	defer C.free(unsafe.Pointer(v))
	return C.GoBytes(unsafe.Pointer(v), C.int(size)), true
}

// Count is the number of records.
func (d *DBM) Count() int {
	return int(C.tkrzw_dbm_count(d.dbm))
}

// AsyncDBM does what a DBM does on threads of its own.
type AsyncDBM struct{ async *C.TkrzwAsyncDBM }

// NewAsyncDBM starts the threads.
func NewAsyncDBM(dbm *DBM, threads int) *AsyncDBM {
	return &AsyncDBM{C.tkrzw_async_dbm_new(dbm.dbm, C.int32_t(threads))}
}

// Close waits for what is under way and ends the threads.
func (a *AsyncDBM) Close() {
	C.tkrzw_async_dbm_free(a.async)
}

// Future is what an operation will have come to. It must be asked for its status, once.
type Future struct{ future *C.TkrzwFuture }

// Set begins to store a record.
func (a *AsyncDBM) Set(key, value []byte) Future {
	k, kSize := bytes(key)
	v, vSize := bytes(value)
	return Future{C.tkrzw_async_dbm_set(a.async, k, kSize, v, vSize, true)}
}

// SetCopying begins to store a record, of which C is given copies.
func (a *AsyncDBM) SetCopying(key, value []byte) Future {
	k, v := C.CBytes(key), C.CBytes(value)
	defer C.free(k)
	defer C.free(v)
	return Future{C.tkrzw_async_dbm_set(a.async, (*C.char)(k), C.int32_t(len(key)), (*C.char)(v), C.int32_t(len(value)), true)}
}

// Get waits for the operation.
func (f Future) Get() error {
	return status(C.get_and_free(f.future))
}

// bytes passes Go's memory to C, which copies what it keeps.
func bytes(b []byte) (*C.char, C.int32_t) {
	return (*C.char)(unsafe.Pointer(unsafe.SliceData(b))), C.int32_t(len(b))
}
