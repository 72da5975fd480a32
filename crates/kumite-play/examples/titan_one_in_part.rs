//! A library for tests: the beginning of a Titan One's.

/// Ends the program: in a library that lacks others no entry point is to be called.
#[unsafe(no_mangle)]
pub extern "system" fn gcdapi_Load() -> u8 {
    std::process::abort();
}
