#![no_main]

#[path = "../../crates/guira/tests/guira/oracle"]
mod oracle {
    pub(crate) mod checksums;
}

#[path = "../bodies/load.rs"]
mod load;

libfuzzer_sys::fuzz_target!(|data: &[u8]| load::run(data));
