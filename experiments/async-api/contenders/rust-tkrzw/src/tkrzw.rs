//! A thin binding of Tkrzw's C interface: what is needed to store and to read.

use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt;

#[link(name = "tkrzw")]
unsafe extern "C" {
    static TKRZW_PACKAGE_VERSION: *const c_char;
    fn tkrzw_get_last_status_code() -> i32;
    fn tkrzw_status_code_name(code: i32) -> *const c_char;
    fn tkrzw_dbm_open(path: *const c_char, writable: bool, params: *const c_char) -> *mut c_void;
    fn tkrzw_dbm_close(dbm: *mut c_void) -> bool;
    fn tkrzw_dbm_set(
        dbm: *mut c_void,
        key: *const u8,
        key_size: i32,
        value: *const u8,
        value_size: i32,
        overwrite: bool,
    ) -> bool;
    fn tkrzw_dbm_get(dbm: *mut c_void, key: *const u8, key_size: i32, value_size: *mut i32) -> *mut u8;
    fn tkrzw_dbm_count(dbm: *mut c_void) -> i64;
    fn free(pointer: *mut c_void);
}

/// The library's version.
pub fn version() -> String {
    // SAFETY: a constant of the library, that ends with a zero.
    unsafe { text(TKRZW_PACKAGE_VERSION) }
}

/// Why an operation failed.
#[derive(Clone, Copy, Debug)]
pub struct Status(i32);

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the library gives a constant for every code.
        write!(f, "tkrzw: {}", unsafe { text(tkrzw_status_code_name(self.0)) })
    }
}

impl std::error::Error for Status {}

/// An open database; it is closed when dropped.
pub struct Dbm(*mut c_void);

// SAFETY: "All operations are thread-safe", says the library of every database class.
unsafe impl Sync for Dbm {}

impl Dbm {
    /// Opens a file, of the kind that its suffix says.
    pub fn open(path: &str, writable: bool, params: &str) -> Result<Dbm, Status> {
        let (path, params) = (CString::new(path).unwrap(), CString::new(params).unwrap());
        // SAFETY: both texts end with a zero and outlive the call.
        let dbm = unsafe { tkrzw_dbm_open(path.as_ptr(), writable, params.as_ptr()) };
        status(!dbm.is_null()).map(|()| Dbm(dbm))
    }

    /// Stores a record.
    pub fn set(&self, key: &[u8], value: &[u8]) -> Result<(), Status> {
        // SAFETY: pointers and sizes are those of live slices, of which the library copies what it keeps.
        status(unsafe {
            tkrzw_dbm_set(self.0, key.as_ptr(), key.len() as i32, value.as_ptr(), value.len() as i32, true)
        })
    }

    /// The value of a key, if there is one.
    pub fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        let mut size = 0;
        // SAFETY: the library gives null, or memory of this size that is ours to free.
        unsafe {
            let value = tkrzw_dbm_get(self.0, key.as_ptr(), key.len() as i32, &mut size);
            (!value.is_null()).then(|| {
                let copy = std::slice::from_raw_parts(value, size as usize).to_vec();
                free(value.cast());
                copy
            })
        }
    }

    /// The number of records.
    pub fn count(&self) -> u64 {
        // SAFETY: the database is open.
        unsafe { tkrzw_dbm_count(self.0) as u64 }
    }

    /// Closes the file.
    pub fn close(self) -> Result<(), Status> {
        let dbm = std::mem::ManuallyDrop::new(self);
        // SAFETY: nothing can use it any more.
        status(unsafe { tkrzw_dbm_close(dbm.0) })
    }
}

impl Drop for Dbm {
    fn drop(&mut self) {
        // SAFETY: nothing can use it any more.
        unsafe { tkrzw_dbm_close(self.0) };
    }
}

/// A status belongs to the thread, until its next call.
fn status(done: bool) -> Result<(), Status> {
    // SAFETY: needs nothing.
    if done { Ok(()) } else { Err(Status(unsafe { tkrzw_get_last_status_code() })) }
}

unsafe fn text(pointer: *const c_char) -> String {
    // SAFETY: the caller's.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}
