//! A place in the cache for a build or for `[deps]`, and how it is filled.

use std::sync::atomic::{AtomicBool, Ordering};

use super::cache::Cache;
use super::entry::{Entry, Held, Turn};
use super::{Origin, tree};
use crate::error::{Error, chain};

pub(super) struct Place<'a> {
    cache: &'a Cache,
    pub entry: Entry,
    /// The name of the product in messages and in the cache.
    name: String,
    key: String,
}

/// The steps that fill a place and try its content.
pub(super) struct Filling<'a, T> {
    /// Makes the content from nothing.
    pub make: &'a dyn Fn() -> Result<(), Error>,
    /// Tries whether the content can be used, without writing there.
    pub first_use: &'a dyn Fn() -> Result<T, Error>,
}

impl<'a> Place<'a> {
    pub fn new(cache: &'a Cache, name: String, key: String) -> Place<'a> {
        Place { cache, entry: cache.entry(&name, &key), name, key }
    }

    /// The content of the place, held, with the result of its first use. It is made if it is not there; with `anew`
    /// it is made in any case. None if the content cannot be used as it is.
    pub fn filled<T>(
        &self,
        filling: &Filling<T>,
        mut anew: bool,
        stop: &AtomicBool,
        note: &mut dyn FnMut(&str),
    ) -> Result<Option<(T, Origin, Held)>, Error> {
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
                        Ok(used) => Ok(Some((used, Origin::Found, held))),
                        Err(why) if stop.load(Ordering::Relaxed) => Err(why),
                        Err(_) => Ok(None),
                    };
                }
                Turn::Build(alone) => alone,
            };
            note(&format!("building {name}"));
            entry.clear(&alone)?;
            let built = (filling.make)().and_then(|()| {
                let folder = entry.folder();
                let bytes = tree::seal(folder).map_err(Error::cannot("take rights from", folder))?;
                let used = (filling.first_use)()?;
                entry.complete(&alone, key, bytes).map(|()| used)
            });
            let used = match built {
                Ok(used) => used,
                Err(why) => {
                    // Should that fail, too: without a mark it is no build.
                    let _ = entry.remove(alone);
                    return Err(why);
                }
            };
            anew = false;
            if let Some(held) = entry.share(alone, key)? {
                if let Err(why) = self.cache.tidy(&held) {
                    note(&chain(&why));
                }
                return Ok(Some((used, Origin::Built, held)));
            }
        }
    }
}
