//! How much of what takes long is tested: all of it, or under `.ci/run` a tenth that changes from commit to commit.

use std::io::Write;

/// One of so many cases is taken.
const ONE_OF: usize = 10;

/// The cases that a test takes of its list: all, or those that the number in `LBMC_SAMPLE` chooses. Twenty numbers in a row choose all; of a
/// test that has [its turn](crate::in_turn) with every tenth number, a hundred.
/// A line on standard error says how many are taken, so that nobody takes a part for all.
pub fn sample<T>(cases: impl IntoIterator<Item = T>) -> Vec<T> {
    let cases: Vec<T> = cases.into_iter().collect();
    let (all, number) = (cases.len(), number(&std::env::var_os("LBMC_SAMPLE").unwrap_or_default().to_string_lossy()));
    let taken = cases.into_iter().enumerate().filter(|(at, _)| is_taken(*at, all, number.map(shifted)));
    let taken: Vec<T> = taken.map(|(_, case)| case).collect();
    if let Some(number) = number {
        // Not by `eprintln!`, which `cargo test` hides of tests that pass.
        let said = format!("sample: {} of {all} cases (LBMC_SAMPLE={number}; without it all are taken)\n", taken.len());
        std::io::stderr().write_all(said.as_bytes()).expect("standard error is open");
    }
    taken
}

/// Ends a test of one long case where it is not its turn: `LBMC_SAMPLE` chooses by its name. Ten numbers in a row choose every test.
#[macro_export]
macro_rules! in_turn {
    () => {{
        fn here() {}
        if !$crate::sample::has_turn(std::any::type_name_of_val(&here)) {
            return;
        }
    }};
}

/// Whether a test of that name runs; a line on standard error says if it does not.
pub fn has_turn(test: &str) -> bool {
    let number = number(&std::env::var_os("LBMC_SAMPLE").unwrap_or_default().to_string_lossy());
    let turn = test.bytes().fold(0, |sum: usize, byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % ONE_OF;
    let has = is_taken(turn, ONE_OF, number);
    if !has {
        let test = test.trim_end_matches("::here");
        let said = format!(
            "sample: not the turn of {test} (LBMC_SAMPLE={}; without it all run)\n",
            number.unwrap_or_default()
        );
        std::io::stderr().write_all(said.as_bytes()).expect("standard error is open");
    }
    has
}

/// The number that is the value of the variable. An empty value is that of no variable: a shell may have no other way to say so.
fn number(value: &str) -> Option<usize> {
    let number = || value.parse().unwrap_or_else(|_| panic!("LBMC_SAMPLE must be a number or empty, not `{value}`"));
    (!value.is_empty()).then(number)
}

/// A number that goes on by one more with every tenth: without that, a test that has its turn with every tenth number would always take the
/// same cases.
fn shifted(number: usize) -> usize {
    number.wrapping_add(number / ONE_OF)
}

/// Whether the case at this place is taken, of so many cases.
fn is_taken(at: usize, all: usize, number: Option<usize>) -> bool {
    let Some(number) = number else { return true };
    let of_number = |at: usize| (at + number % ONE_OF).is_multiple_of(ONE_OF);
    // A short list may have no such case: a test without a case would be none.
    if (0..all).any(of_number) { of_number(at) } else { at == number % all }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(all: usize, number: Option<usize>) -> Vec<usize> {
        (0..all).filter(|at| is_taken(*at, all, number)).collect()
    }

    #[test]
    fn without_a_number_all_are_taken() {
        assert_eq!(taken(5, None), [0, 1, 2, 3, 4]);
        assert_eq!(number(""), None);
    }

    #[test]
    fn a_number_takes_a_tenth_and_ten_in_a_row_take_all() {
        assert_eq!([0, 1, 2, 9].map(|number| taken(13, Some(number))), [vec![0, 10], vec![9], vec![8], vec![1, 11]]);
        for all in 1..20 {
            for first in (0..20).chain([usize::MAX - 9]) {
                let numbers: Vec<usize> = (0..ONE_OF).map(|at| first + at).collect();
                assert!((0..all).all(|at| numbers.iter().any(|number| is_taken(at, all, Some(*number)))));
                let most = all.div_ceil(ONE_OF);
                assert!(numbers.iter().all(|number| (1..=most).contains(&taken(all, Some(*number)).len())));
            }
        }
        assert!(taken(0, Some(1)).is_empty());
    }

    #[test]
    fn twenty_numbers_in_a_row_take_all_and_so_do_ten_that_are_ten_apart() {
        for all in 1..20 {
            for first in 0..100 {
                let all_by = |numbers: &mut dyn Iterator<Item = usize>| {
                    let numbers: Vec<usize> = numbers.map(shifted).collect();
                    (0..all).all(|at| numbers.iter().any(|number| is_taken(at, all, Some(*number))))
                };
                assert!(all_by(&mut (first..first + 2 * ONE_OF)));
                assert!(all_by(&mut (0..ONE_OF).map(|at| first + at * ONE_OF)));
            }
        }
    }

    #[test]
    #[should_panic(expected = "not `third`")]
    fn what_is_no_number_is_refused() {
        number("third");
    }
}
