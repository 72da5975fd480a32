//! A place in the cache, and how it is filled.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cache::Cache;
use crate::entry::{Entry, Held, Turn};
use crate::{Error, tree};

/// A place in the cache for a build, or for what builds share.
pub struct Place<'a> {
    cache: &'a Cache,
    entry: Entry,
    /// The name of the content in messages.
    name: String,
    key: String,
}

/// The steps that fill a place with content, and that try whether the content works.
pub struct Filling<'a, T, E> {
    /// Makes the content from nothing.
    pub make: &'a dyn Fn() -> Result<(), E>,
    /// Tries whether the content can be used, without writing there.
    pub first_use: &'a dyn Fn() -> Result<T, E>,
    /// The word for making, such as `building`, which messages have before the name of the content.
    pub doing: &'static str,
    /// True if nobody may write to the content once it is made.
    pub is_sealed: bool,
}

/// The content of a place.
pub struct Filled<T> {
    /// The result of its first use.
    pub used: T,
    /// True if the content was made just now; false if it was there already.
    pub is_new: bool,
    /// The lock that keeps the content as long as this lives.
    pub held: Held,
}

impl<'a> Place<'a> {
    /// The place for content with this key, of at least 16 characters. `folder` is the beginning of its folder's
    /// name, and `name` is how messages call the content.
    pub fn new(cache: &'a Cache, folder: &str, name: String, key: String) -> Place<'a> {
        Place { cache, entry: cache.entry(folder, &key), name, key }
    }

    /// The folder of the place, which need not be there.
    pub fn folder(&self) -> &Path {
        self.entry.folder()
    }

    /// The content of the place, held against removal. The content is made if it is not there; with `anew` it is made
    /// in any case. `None` if content that was there before fails its first use. An error if content cannot be made, or
    /// fails its first use just after that; if a file of the cache cannot be used; or if `stop` is set before this
    /// kumite may use or make the content, or when a first use fails. `note` gets a line if another kumite is waited
    /// for, before content is made, and if old builds cannot be removed afterwards.
    pub fn filled<T, E: From<Error>>(
        &self,
        filling: &Filling<T, E>,
        mut anew: bool,
        stop: &AtomicBool,
        note: &mut dyn FnMut(&str),
    ) -> Result<Option<Filled<T>>, E> {
        let Place { entry, name, key, .. } = self;
        let mut told = false;
        loop {
            let does = if anew { "builds or uses" } else { "builds" };
            let mut wait = || {
                if !std::mem::replace(&mut told, true) {
                    note(&format!("waiting for another kumite that {does} {name}"));
                }
            };
            let alone = match entry.turn(key, anew, stop, &mut wait)? {
                Turn::Use(held) => {
                    return match (filling.first_use)() {
                        Ok(used) => Ok(Some(Filled { used, is_new: false, held })),
                        Err(why) if stop.load(Ordering::Relaxed) => Err(why),
                        Err(_) => Ok(None),
                    };
                }
                Turn::Build(alone) => alone,
            };
            note(&format!("{} {name}", filling.doing));
            entry.clear(&alone)?;
            let built = (filling.make)().and_then(|()| {
                let folder = entry.folder();
                if filling.is_sealed {
                    tree::seal(folder).map_err(Error::cannot("take rights from", folder))?;
                }
                let bytes = tree::bytes(folder).map_err(Error::cannot("measure", folder))?;
                let used = (filling.first_use)()?;
                Ok(entry.complete(&alone, key, bytes).map(|()| used)?)
            });
            let used = match built {
                Ok(used) => used,
                Err(why) => {
                    // It does not matter if that fails, too: without a mark it is no build.
                    let _ = entry.remove(alone);
                    return Err(why);
                }
            };
            anew = false;
            if let Some(held) = entry.share(alone, key)? {
                if let Err(why) = self.cache.tidy(&held) {
                    note(&why.to_string());
                }
                return Ok(Some(Filled { used, is_new: true, held }));
            }
        }
    }
}
