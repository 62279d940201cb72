#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| contexture_testkit::fuzzing::detect(bytes));
