//! What was read.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use kumite_kit::{Failure, Job};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The last text of each file.
pub struct Texts {
    folder: PathBuf,
    texts: Vec<Mutex<Text>>,
}

#[derive(Default)]
struct Text {
    times: u64,
    last: String,
}

impl Texts {
    /// None yet, of as many files as the job says.
    pub fn of(job: &Job) -> Result<Texts, Failure> {
        let folder = env::var_os("DISK_PATH").ok_or("DISK_PATH is not set")?.into();
        let texts = (0..job.number("files")?).map(|_| Mutex::default()).collect();
        Ok(Texts { folder, texts })
    }

    /// The file that is read the nth time that one is read.
    pub fn path(&self, n: u64) -> PathBuf {
        self.folder.join((n % self.texts.len() as u64).to_string())
    }

    /// Decodes what was read the nth time, and keeps it.
    pub fn keep(&self, n: u64, bytes: Vec<u8>) -> Result<(), Failure> {
        let last = String::from_utf8(bytes)?;
        let mut text = self.texts[n as usize % self.texts.len()].lock().unwrap();
        *text = Text { times: text.times + 1, last };
        Ok(())
    }

    /// How often each file was read, and what it says.
    pub fn by_file(&self) -> Value {
        let texts = self.texts.iter().map(|text| text.lock().unwrap()).enumerate();
        let read = texts.filter(|(_, text)| text.times > 0).map(|(file, text)| {
            let sha256 =
                Sha256::digest(&text.last).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            let read = json!({"times": text.times, "chars": text.last.chars().count(), "sha256": sha256});
            (file.to_string(), read)
        });
        Value::Object(read.collect())
    }
}

/// An error that says which file it is about.
pub fn about(path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    move |error| format!("{}: {error}", path.display()).into()
}
