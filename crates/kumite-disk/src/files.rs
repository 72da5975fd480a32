//! The files of a slow disk: text of a given size, the same at each call.

use std::path::Path;

use crate::Error;

/// The text of file `nth`: one line over and over, exactly `size_bytes` bytes of UTF-8. If the last character is not
/// whole, spaces stand in its place.
pub fn file_text(nth: usize, size_bytes: usize) -> String {
    let line = format!("{nth:04} 組手 kumite, café 0123456789 abcdefghijklmnopqrstuvwxyz\n");
    let mut text = line.repeat(size_bytes.div_ceil(line.len()));
    text.truncate(text.floor_char_boundary(size_bytes));
    text.extend(std::iter::repeat_n(' ', size_bytes - text.len()));
    text
}

/// Writes the files `0` to `count - 1` into a folder, each with its [`file_text`].
///
/// # Errors
///
/// If one cannot be written.
pub fn write_files(folder: &Path, count: usize, size_bytes: usize) -> Result<(), Error> {
    for nth in 0..count {
        let file = folder.join(nth.to_string());
        std::fs::write(&file, file_text(nth, size_bytes)).map_err(|source| Error::Write { file, source })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_as_long_as_wanted_and_repeats_its_line() {
        let line = "0007 組手 kumite, café 0123456789 abcdefghijklmnopqrstuvwxyz\n";
        assert_eq!(file_text(7, 2 * line.len()), line.repeat(2));
        for size in 0..300 {
            assert_eq!(file_text(7, size).len(), size);
        }
        assert_eq!(file_text(12_345, 8), "12345   ");
        assert_eq!(file_text(7, 7), "0007   ", "a character of three bytes does not fit into two");
    }

    #[test]
    fn files_are_made_and_a_folder_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        write_files(folder.path(), 3, 100).unwrap();
        let mut names: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["0", "1", "2"]);
        assert_eq!(std::fs::read_to_string(folder.path().join("2")).unwrap(), file_text(2, 100));
        let missing = folder.path().join("missing");
        let error = write_files(&missing, 1, 1).unwrap_err();
        assert!(matches!(&error, Error::Write { file, .. } if *file == missing.join("0")), "{error}");
    }
}
