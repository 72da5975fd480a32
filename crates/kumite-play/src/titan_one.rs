//! The Titan One's library, and all unsafe code of this crate: without it, functions of a library that is found at
//! run time cannot be called.
//!
//! Their names, parameters and results are those of `gcapi.h`, the header that the maker gives to programmers. It
//! declares them `_stdcall`: `extern "system"` is that on 32-bit Windows, which the real library is for, and C's
//! convention elsewhere. Only functions that are called are looked for: `gcapi_GetTimeVal` and `gcapi_CalcPressTime`
//! tell how long a button of the controller has been held, which is not needed here.
//!
//! # Unsafe code
//!
//! No compiler can know what a file does when it is loaded, nor what its functions take and return. The user who
//! names a library vouches for it, as for a program that they start; all that can be done here is to declare its
//! functions as the header does. They are declared safe to call, and the types ensure the rest. What the functions
//! are lent is as large as the header says. They do not outlive the library, since they lie in one value with it and
//! are not given away. And one thread at a time calls them, since a call takes `&mut`.

use std::path::{Path, PathBuf};

use libloading::Library;

use crate::{DeviceError, PadState};

/// The adapter's report on both of its ends, `GCAPI_REPORT` in the header.
#[repr(C)]
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// The number of the console that the adapter is plugged into; 0 if none.
    pub(crate) console: u8,
    /// The number of the controller that is plugged into the adapter, in the upper four bits; 0 if none.
    pub(crate) controller: u8,
    led: [u8; 4],
    rumble: [u8; 2],
    battery_level: u8,
    input: [Input; 30],
}

/// A control of the controller, as the header declares it.
#[repr(C)]
#[derive(Debug, Default)]
struct Input {
    value: i8,
    prev_value: i8,
    press_tv: u32,
}

#[derive(Debug)]
struct Functions {
    load: extern "system" fn() -> u8,
    unload: extern "system" fn(),
    is_connected: extern "system" fn() -> u8,
    firmware: extern "system" fn() -> u16,
    read: extern "system" fn(&mut Report) -> u8,
    // The header has no `const` here, so it is lent a copy.
    write: extern "system" fn(&mut [i8; PadState::LENGTH]) -> u8,
}

/// The library, from `gcdapi_Load` to `gcdapi_Unload`, which is called when this is dropped.
#[derive(Debug)]
pub(crate) struct TitanOne {
    functions: Functions,
    _library: Library,
}

impl TitanOne {
    /// Loads the library from a file. None of its functions is called before all of them are found.
    pub(crate) fn load(path: &Path) -> Result<TitanOne, DeviceError> {
        // A name without a folder would be looked for wherever the system has libraries.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        if !path.is_file() {
            return Err(DeviceError::NoLibrary { path });
        }
        // SAFETY: whoever names the library vouches for what it does when it is loaded and when it goes.
        let library = match unsafe { Library::new(&path) } {
            Ok(library) => library,
            Err(error) => return Err(DeviceError::NotALibrary { path, error }),
        };
        // SAFETY: they are dropped together with the library, and not given away.
        let functions = unsafe { Functions::find(&library, &path) }?;
        if (functions.load)() == 0 {
            return Err(DeviceError::NotLoaded { path });
        }
        Ok(TitanOne { functions, _library: library })
    }

    /// True if the library sees an adapter.
    pub(crate) fn is_connected(&mut self) -> bool {
        (self.functions.is_connected)() != 0
    }

    /// The version of the adapter's firmware; 0 if it is not known.
    pub(crate) fn firmware(&mut self) -> u16 {
        (self.functions.firmware)()
    }

    /// The adapter's report; none if it gives none.
    pub(crate) fn report(&mut self) -> Option<Report> {
        let mut report = Report::default();
        ((self.functions.read)(&mut report) != 0).then_some(report)
    }

    /// Gives the adapter a state. True if it took it.
    pub(crate) fn write(&mut self, state: PadState) -> bool {
        (self.functions.write)(&mut state.values()) != 0
    }
}

impl Drop for TitanOne {
    fn drop(&mut self) {
        (self.functions.unload)();
    }
}

impl Functions {
    /// Finds all functions in the library.
    ///
    /// # Safety
    ///
    /// The functions must not be called after the library is dropped.
    unsafe fn find(library: &Library, path: &Path) -> Result<Functions, DeviceError> {
        // SAFETY: these are the types that the header gives to these names.
        unsafe {
            Ok(Functions {
                load: function(library, path, "gcdapi_Load")?,
                unload: function(library, path, "gcdapi_Unload")?,
                is_connected: function(library, path, "gcapi_IsConnected")?,
                firmware: function(library, path, "gcapi_GetFWVer")?,
                read: function(library, path, "gcapi_Read")?,
                write: function(library, path, "gcapi_Write")?,
            })
        }
    }
}

/// Finds one function in the library.
///
/// # Safety
///
/// `F` must be the type of the function with this name, and must not be called after the library is dropped.
unsafe fn function<F: Copy>(library: &Library, path: &Path, name: &'static str) -> Result<F, DeviceError> {
    // SAFETY: the caller knows the type. An `Option` of a function is of its size, and none where the address is 0.
    let found = unsafe { library.get::<Option<F>>(name) };
    let missing = || DeviceError::NotTheTitanOnes { path: PathBuf::from(path), name };
    found.ok().and_then(|symbol| *symbol).ok_or_else(missing)
}

#[cfg(test)]
mod tests {
    use std::mem::{offset_of, size_of};

    use super::*;

    /// The layout is that of C for `GCAPI_REPORT`: 9 bytes, 3 to align, and 30 controls of 8 bytes.
    #[test]
    fn a_report_lies_in_memory_as_the_header_says() {
        let offsets = [
            offset_of!(Report, console),
            offset_of!(Report, controller),
            offset_of!(Report, led),
            offset_of!(Report, rumble),
            offset_of!(Report, battery_level),
            offset_of!(Report, input),
        ];
        assert_eq!(offsets, [0, 1, 2, 6, 8, 12]);
        assert_eq!(
            [offset_of!(Input, value), offset_of!(Input, prev_value), offset_of!(Input, press_tv)],
            [0, 1, 4]
        );
        assert_eq!((size_of::<Input>(), size_of::<Report>()), (8, 252));
    }
}
