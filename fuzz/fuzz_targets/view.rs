#![no_main]

#[path = "../../crates/guira/tests/guira/oracle"]
mod oracle {
    pub(crate) mod checksums;
}

#[path = "../bodies/view.rs"]
mod view;

libfuzzer_sys::fuzz_target!(|data: &[u8]| view::run(data));
