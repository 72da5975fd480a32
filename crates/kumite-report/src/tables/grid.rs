//! Tables for a terminal. A table that is too wide is cut between columns, and its other columns go below.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Row, Table, presets};

use crate::style::Style;

/// The lines of a table whose first column names the rows. Other columns that do not fit go below, in as few pieces
/// as the width allows, each with the first column again.
pub fn grid(columns: &[(&str, CellAlignment)], rows: &[Vec<String>], style: Style) -> String {
    let width = style.width.max(40);
    let all: Vec<usize> = (0..columns.len()).collect();
    let widths: Vec<usize> = table(columns, rows, &all, width)
        .column_max_content_widths()
        .iter()
        .map(|w| *w as usize + GAP)
        .collect();
    let Some((first, rest)) = widths.split_first() else { return String::new() };

    let mut pieces: Vec<Vec<usize>> = vec![vec![0]];
    let mut used = *first;
    for (index, column) in rest.iter().enumerate() {
        let piece = pieces.len() - 1;
        // The last column needs no gap after it.
        if used + column - GAP > width && pieces[piece].len() > 1 {
            pieces.push(vec![0]);
            used = *first;
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push(index + 1);
        }
        used += column;
    }
    let text: Vec<String> = pieces
        .iter()
        .map(|piece| {
            let lines = table(columns, rows, piece, width);
            lines.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
        })
        .collect();
    text.join("\n")
}

const GAP: usize = 2;

fn table(columns: &[(&str, CellAlignment)], rows: &[Vec<String>], chosen: &[usize], width: usize) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width + GAP).unwrap_or(u16::MAX));
    table.set_header(Row::from(chosen.iter().map(|at| Cell::new(columns[*at].0)).collect::<Vec<_>>()));
    for row in rows {
        table.add_row(chosen.iter().map(|at| Cell::new(&row[*at])).collect::<Vec<_>>());
    }
    for (position, at) in chosen.iter().enumerate() {
        if let Some(column) = table.column_mut(position) {
            column.set_padding((0, GAP as u16));
            column.set_cell_alignment(columns[*at].1);
        }
    }
    table
}
