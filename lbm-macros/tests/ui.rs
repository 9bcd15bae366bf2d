//! Wrong methods and what the compiler then says, and where.

#[test]
fn wrong_methods_are_errors_at_their_own_places() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
