#![no_main]

#[path = "../../crates/guira/tests/guira/oracle"]
mod oracle {
    pub(crate) mod shapes;
}

#[path = "../bodies/operations.rs"]
mod operations;

libfuzzer_sys::fuzz_target!(|data: &[u8]| operations::run(data));
