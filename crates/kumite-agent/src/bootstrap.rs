//! The way from a bare node to an agent on it: kumite is sent once, and verified before it runs.
//!
//! A node needs a POSIX shell, `sha256sum` and its user's cache folder. The program lies there under its digest, in a
//! folder that nobody else may write to; a file with another digest is never executed. A transfer that breaks off
//! leaves a file under another name, so that half a program is never taken for a whole one.

use std::path::{Path, PathBuf};

use kumite_process::MARKER;
use sha2::{Digest, Sha256};

use crate::error::Error;

/// The end of the line that the script prints if the node does not have this kumite. The line may begin with text that
/// a shell's start file printed.
pub const WANTED: &[u8] = b"kumite-is-wanted";

/// The bytes and the digest of kumite's program, as it is sent to nodes.
pub struct Program {
    pub(crate) bytes: Vec<u8>,
    digest: String,
}

impl Program {
    /// The program that this process runs, read from its file. An error if the system does not tell the file, or the
    /// file cannot be read.
    pub fn own() -> Result<Program, Error> {
        own_file().and_then(|file| Program::read(&file))
    }

    /// Reads a program from its file, and takes its digest. An error if the file cannot be read.
    pub fn read(file: &Path) -> Result<Program, Error> {
        let bytes = std::fs::read(file).map_err(Error::cannot("read", file))?;
        let digest = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Program { bytes, digest })
    }

    /// A script for a POSIX shell that looks for the program under its digest, takes it from standard input if it is
    /// not there, and becomes the agent. It is one line, and has no character that any login shell changes within
    /// single quotes (see [`Host`](crate::Host)).
    ///
    /// It unsets the mark of the driver's process tree first. Slurm's srun takes the driver's environment along; an
    /// agent with the mark would look like a leftover of a killed kumite, and the next kumite on that node would end
    /// it.
    pub(crate) fn script(&self) -> String {
        let (digest, size) = (&self.digest, self.bytes.len());
        let wanted = String::from_utf8_lossy(WANTED);
        format!(
            concat!(
                r#"set -eu; unset {MARKER}; m=$(umask); umask 077; "#,
                r#"d="${{XDG_CACHE_HOME:-$HOME/.cache}}/kumite/agents"; f="$d/{digest}"; mkdir -p "$d"; "#,
                r#"right() {{ test -x "$1" && test "$(sha256sum < "$1" | cut -c1-64)" = {digest}; }}; "#,
                r#"right "$f" || {{ echo {wanted}; "#,
                r#"t=$(mktemp "$d/new.XXXXXXXX"); head -c {size} > "$t"; chmod 700 "$t"; "#,
                r#"right "$t" || {{ rm -f "$t"; echo "what arrived is not the kumite that was sent" >&2; exit 1; }}; "#,
                r#"mv "$t" "$f"; }}; umask "$m"; exec "$f" agent"#
            ),
            MARKER = MARKER,
            digest = digest,
            wanted = wanted,
            size = size
        )
    }
}

/// The path of the program that this process runs. An error if the system does not tell it.
pub fn own_file() -> Result<PathBuf, Error> {
    std::env::current_exe().map_err(Error::OwnFile)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use kumite_process::spawn_unmarked;

    use super::*;

    /// Runs the script with these bytes as its input. Returns true if it succeeded, its output and its standard error.
    fn run(home: &Path, program: &Program, sent: &[u8]) -> (bool, String, String) {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(program.script()).env("HOME", home).env_remove("XDG_CACHE_HOME");
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = spawn_unmarked(&mut shell).unwrap();
        // The script may have ended before it read all.
        let _ = child.stdin.take().unwrap().write_all(sent);
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.success(), text(output.stdout), text(output.stderr))
    }

    #[test]
    fn the_script_is_one_plain_word_to_any_shell() {
        let script = Program { bytes: vec![0; 7], digest: "00ff".to_owned() }.script();
        assert!(crate::ssh::is_plain(&script), "{script}");
    }

    #[test]
    fn the_program_is_sent_once_and_what_is_not_it_does_not_run() {
        let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = folder.path().join("program");
        std::fs::write(&file, "#!/bin/sh\necho ran $1\n").unwrap();
        let program = Program::read(&file).unwrap();
        let wrong = vec![b'x'; program.bytes.len()];
        let (ended, said, error) = run(home.path(), &program, &wrong);
        assert_eq!((ended, said.as_str()), (false, "kumite-is-wanted\n"));
        assert_eq!(error.trim_end(), "what arrived is not the kumite that was sent");
        assert_eq!(run(home.path(), &program, &program.bytes).1, "kumite-is-wanted\nran agent\n");
        assert_eq!(run(home.path(), &program, b"").1, "ran agent\n");
        let kept = home.path().join(".cache/kumite/agents");
        let names: Vec<_> = std::fs::read_dir(&kept).unwrap().flatten().map(|entry| entry.path()).collect();
        assert_eq!(names.len(), 1, "{names:?}");
        // Somebody changed it.
        std::fs::write(&names[0], "#!/bin/sh\necho evil\n").unwrap();
        assert_eq!(run(home.path(), &program, &program.bytes).1, "kumite-is-wanted\nran agent\n");
    }
}
