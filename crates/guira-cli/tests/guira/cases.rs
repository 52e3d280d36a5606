//! The sessions of tests/cmd: each starts in a copy of the directory of the same name that ends in `.in`. Without the one
//! that ends in `.out` it would not be a copy.

use std::path::Path;

use crate::workplace::GUIRA;

#[test]
fn sessions_go_as_written() {
    let cases = trycmd::TestCases::new();
    cases.register_bin("guira", Path::new(GUIRA));
    cases.case("tests/cmd/*.md");
    if cfg!(not(feature = "redis")) {
        cases.skip("tests/cmd/push.md").skip("tests/cmd/help.md");
    }
}
