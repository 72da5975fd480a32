//! Every row of a table of a document has as many cells as its head.

/// The faulty rows of a document's tables: the line, and the fault.
pub(super) fn wrong(text: &str) -> Vec<(usize, String)> {
    let mut wrong = Vec::new();
    let (mut head, mut in_code) = (None, false);
    for (number, line) in (1..).zip(text.lines()) {
        in_code ^= line.starts_with("```");
        if in_code || !line.starts_with('|') {
            head = None;
            continue;
        }
        let cells = cells(line);
        let columns = *head.get_or_insert(cells);
        if cells != columns {
            wrong.push((number, format!("a row of {cells} cells below a head of {columns}")));
        }
    }
    wrong
}

/// A bar that is escaped is text.
fn cells(row: &str) -> usize {
    let row = row.trim().replace("\\|", "");
    let inside = row.strip_prefix('|').unwrap_or(&row);
    inside.strip_suffix('|').unwrap_or(inside).split('|').count()
}

#[cfg(test)]
mod tests {
    use super::wrong;

    #[test]
    fn a_row_that_is_cut_short_is_found() {
        let table = "| a | b |\n| --- | ---: |\n| `x \\| y` | 2 |\n| 3 | |\n\n| c |\n| --- |\n";
        assert_eq!(wrong(table), []);
        let cut = format!("text\n\n{table}| 4 | 5 |\n```\n| a |\n| b | c |\n```\n");
        assert_eq!(wrong(&cut), [(10, "a row of 2 cells below a head of 1".to_owned())]);
    }
}
