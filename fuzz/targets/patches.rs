#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ripkit_fuzz::oracles::patches::check(data));
