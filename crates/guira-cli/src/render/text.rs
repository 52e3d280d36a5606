//! Numbers as people read them.

use indicatif::{HumanCount, HumanFloatCount};

/// `1,234`
pub(crate) fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

/// `1,234 keys`, `1 key`
pub(crate) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", HumanCount(number), if number == 1 { "" } else { "s" })
}

/// `95.42 %`
pub(crate) fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

/// `13.57`, `21,475`
pub(crate) fn bits(bits: f64) -> String {
    if bits < 1000.0 { format!("{bits:.2}") } else { HumanFloatCount(bits.round()).to_string() }
}

/// `0.000912 (1 in 1,096)`, `0.250`, `2.33e-10 (1 in 4,294,967,295)`, `2.00e-15 (1 in 5.00e14)`
pub(crate) fn rate(rate: f64) -> String {
    if rate == 0.0 {
        return "0".to_owned();
    }
    if rate > 0.1 {
        // Both 0.9 and 0.7 would be "1 in 1".
        return format!("{rate:.3}");
    }
    // Nobody counts that many zeros, or that many digits.
    if rate < 1e-10 {
        return format!("{rate:.2e} (1 in {:.2e})", 1.0 / rate);
    }
    if rate < 1e-6 {
        return format!("{rate:.2e} (1 in {})", HumanFloatCount((1.0 / rate).round()));
    }
    // Three significant digits.
    let (mut decimals, mut scaled) = (2, rate);
    while scaled < 1.0 {
        scaled *= 10.0;
        decimals += 1;
    }
    format!("{rate:.decimals$} (1 in {})", HumanFloatCount((1.0 / rate).round()))
}

/// 10 to the power of a whole number that is not above 0: `1`, `0.001`, `1e-7`
pub(crate) fn power_of_ten(exponent: f64) -> String {
    match -exponent.round() {
        decimals if decimals > 6.0 => format!("1e-{decimals}"),
        // `Display` prints as many digits as needed.
        _ => 10f64.powf(exponent.round()).to_string(),
    }
}

/// Labels and values, each in its column.
pub(crate) fn table(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    rows.iter().map(|(label, value)| format!("{label:width$}  {value}\n")).collect()
}

/// Rows of aligned cells: numbers are right-aligned, and the columns `left` are left-aligned.
pub(crate) fn columns(rows: &[Vec<String>], left: &[usize]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(String::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if left.contains(&column) { format!("{cell:width$}") } else { format!("{cell:>width$}") }
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_thousands_are_separated() {
        assert_eq!(counted(0, "key"), "0 keys");
        assert_eq!(counted(1, "key"), "1 key");
        assert_eq!(counted(1_234_567, "key"), "1,234,567 keys");
        assert_eq!(count(999), "999");
    }

    #[test]
    fn rates_have_three_significant_digits() {
        assert_eq!(rate(0.0), "0");
        assert_eq!(rate(0.1), "0.100 (1 in 10)");
        assert_eq!(rate(0.001), "0.00100 (1 in 1,000)");
        assert_eq!(rate(0.000_912_49), "0.000912 (1 in 1,096)");
        assert_eq!(rate(0.000_001), "0.00000100 (1 in 1,000,000)");
    }

    #[test]
    fn rates_that_are_nearly_0_have_an_exponent() {
        assert_eq!(rate(1.0 / 4_294_967_295.0), "2.33e-10 (1 in 4,294,967,295)");
        assert_eq!(rate(9.41e-7), "9.41e-7 (1 in 1,062,699)");
        assert_eq!(rate(2e-15), "2.00e-15 (1 in 5.00e14)");
        assert_eq!(rate(1e-300), "1.00e-300 (1 in 1.00e300)");
    }

    #[test]
    fn rates_that_are_no_small_share_are_left_at_their_digits() {
        assert_eq!(rate(0.101), "0.101");
        assert_eq!(rate(0.25), "0.250");
        assert_eq!(rate(0.9), "0.900");
    }

    #[test]
    fn powers_of_ten_have_no_digits_too_many() {
        let exponents = [0.0, -1.0, -2.9999, -6.0, -7.0, -12.0];
        assert_eq!(exponents.map(power_of_ten), ["1", "0.1", "0.001", "0.000001", "1e-7", "1e-12"]);
    }

    #[test]
    fn bits_have_fractions_while_they_matter() {
        assert_eq!(bits(13.566), "13.57");
        assert_eq!(bits(214_846.0), "214,846");
    }

    #[test]
    fn percentages_have_two_decimals() {
        assert_eq!(percent(0.954_321), "95.43 %");
        assert_eq!(percent(1.0), "100.00 %");
    }

    #[test]
    fn numbers_end_and_words_start_in_a_column() {
        let rows = [["a", "1", "x"], ["long", "23", ""]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(columns(&rows, &[0, 2]), "a      1  x\nlong  23\n");
    }

    #[test]
    fn values_stand_in_a_column() {
        let rows = [("a", "1".to_owned()), ("long", "2".to_owned())];
        assert_eq!(table(&rows), "a     1\nlong  2\n");
    }
}
