//! Checks and chores. `cargo xtask ci` is what CI calls; `cargo xtask tidy` checks what no compiler does, `cargo xtask
//! windows` what this platform's does not.

mod ci;
mod dist;
mod found;
mod project;
mod release;
mod tidy;
mod windows;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["ci", rest @ ..] => ci::run(rest),
        ["tidy"] => tidy::run(),
        ["measures", why] => tidy::measures::answer(project::root(), why),
        ["found", rest @ ..] => found::sitting(project::root(), rest),
        ["rejudge", names @ ..] => found::rejudge(project::root(), names),
        ["windows"] => windows::run(),
        ["dist", only @ ..] => dist::run(only),
        ["release", "--dry-run"] => release::dry_run(project::root()),
        _ => {
            eprintln!("{}", ci::USAGE);
            eprintln!(
                "       cargo xtask tidy                  check invariants, documents and leftover markers"
            );
            eprintln!(
                "       cargo xtask measures WHY           say why MEASURES is not raised for what tidy asks about"
            );
            eprintln!(
                "       cargo xtask found NAME            make one sitting of an experiment, and judge it with the others"
            );
            eprintln!(
                "       cargo xtask found NAME --everyone keep what each contender takes once, for the tables of its README"
            );
            eprintln!(
                "       cargo xtask rejudge [NAME …]      judge found records anew, and renew what is made from them"
            );
            eprintln!(
                "       cargo xtask windows               check that kumite-play compiles for 32-bit Windows"
            );
            eprintln!("       cargo xtask dist [TARGET …]       make what people install, in target/dist/");
            eprintln!("       cargo xtask release --dry-run     say what is missing before a release");
            ExitCode::from(2)
        }
    }
}
