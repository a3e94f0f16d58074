#![no_main]

// The parser is private: its test on stable stands beside it, in `src/index/store/tests`.
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let (entries, filters) = ripkit::parse_index(data.to_vec());
    assert!(entries + filters <= data.len(), "{entries} entries, {filters} bytes of filters");
});
