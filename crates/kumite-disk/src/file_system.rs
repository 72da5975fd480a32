//! The answers to the kernel's questions: all but reads are answered at once and from memory.

use std::ffi::OsStr;
use std::sync::Arc;
use std::time::Duration;

use fuser::{
    Errno, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, LockOwner, OpenFlags,
    ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, Request,
};

use crate::mirror::Mirror;
use crate::queue::Queue;

/// The time for which the kernel may keep names and sizes. They do not change.
const KEEP: Duration = Duration::from_secs(86_400);

#[derive(Debug)]
pub(crate) struct FileSystem {
    pub mirror: Mirror,
    pub queue: Arc<Queue>,
}

impl Filesystem for FileSystem {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.mirror.named(name).filter(|_| parent == INodeNo::ROOT) {
            Some(attributes) => reply.entry(&KEEP, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, node: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.mirror.attributes(node) {
            Some(attributes) => reply.attr(&KEEP, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _: &Request, node: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let Some(size) = self.mirror.size(node) else {
            return reply.error(Errno::ENOENT);
        };
        match self.mirror.open(node) {
            // Neither the kernel's cache nor its reading ahead comes between a reader and the delay.
            Ok(file) => reply
                .opened(self.queue.open(file, size), FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_NOFLUSH),
            Err(error) => reply.error(Errno::from(error)),
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.queue.read(handle, offset, size, reply);
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.queue.close(handle);
        reply.ok();
    }

    fn readdir(&self, _: &Request, _: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let folders = [".", ".."].map(|name| (INodeNo::ROOT, FileType::Directory, OsStr::new(name)));
        let files = self.mirror.files().map(|(node, name)| (node, FileType::RegularFile, name));
        let entries = (1..).zip(folders.into_iter().chain(files));
        for (next, (node, kind, name)) in entries.skip(offset as usize) {
            let full = reply.add(node, next, kind, name);
            if full {
                break;
            }
        }
        reply.ok();
    }
}
