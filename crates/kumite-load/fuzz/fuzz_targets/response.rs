#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| kumite_load::fuzzing::response(input));
