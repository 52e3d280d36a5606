//! The sessions of tests/cmd: each starts in a copy of the directory of the same name that ends in `.in`. Without the one
//! that ends in `.out` it would not be a copy.

#[test]
fn sessions_go_as_written() {
    trycmd::TestCases::new().case("tests/cmd/*.md");
}
