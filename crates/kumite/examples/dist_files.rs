//! Writes manual pages and completions below a folder: what `cargo xtask dist` installs beside the binary.

use std::fs;
use std::path::Path;

use clap_complete::Shell;

fn main() -> std::io::Result<()> {
    let share = std::env::args().nth(1).expect("usage: dist_files FOLDER");
    let share = Path::new(&share);
    let man = share.join("man/man1");
    fs::create_dir_all(&man)?;
    clap_mangen::generate_to(kumite::command(), &man)?;
    let completions = [
        (Shell::Bash, "bash-completion/completions", "kumite"),
        (Shell::Zsh, "zsh/vendor-completions", "_kumite"),
        (Shell::Fish, "fish/vendor_completions.d", "kumite.fish"),
    ];
    for (shell, folder, file) in completions {
        let folder = share.join(folder);
        fs::create_dir_all(&folder)?;
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut kumite::command(), "kumite", &mut text);
        fs::write(folder.join(file), text)?;
    }
    Ok(())
}
