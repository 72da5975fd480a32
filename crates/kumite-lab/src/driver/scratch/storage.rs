//! The storage behind a file system.

/// The file systems in memory, by the numbers of `statfs(2)`: tmpfs and ramfs.
const MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// The file systems that are on other machines, or may be: NFS, SMB (three numbers), AFS, Ceph, Coda, Lustre, GPFS,
/// BeeGFS, OCFS2, GFS2, 9P, FUSE.
const ELSEWHERE: [u64; 14] = [
    0x6969,
    0x517b,
    0xff53_4d42,
    0xfe53_4d42,
    0x5346_414f,
    0x00c3_6400,
    0x7375_7245,
    0x0bd0_0bd0,
    0x4750_4653,
    0x1983_0326,
    0x7461_636f,
    0x0116_1970,
    0x0102_1997,
    0x6573_5546,
];

/// The place where a file system keeps its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    /// A disk of this machine, as far as can be told.
    Disk,
    Memory,
    Elsewhere,
}

impl Storage {
    /// The storage behind a file system, whose type is given by the kernel's number.
    pub fn of_type(number: u64) -> Storage {
        // Some systems give the number as a signed one.
        let number = number & 0xffff_ffff;
        match number {
            _ if MEMORY.contains(&number) => Storage::Memory,
            _ if ELSEWHERE.contains(&number) => Storage::Elsewhere,
            _ => Storage::Disk,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Storage::Disk => "on a disk of this machine",
            Storage::Memory => "in memory",
            Storage::Elsewhere => "which may be on another machine's disk",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_are_told_from_memory_and_from_networks() {
        let of = Storage::of_type;
        assert_eq!([0xef53, 0x5846_5342, 0x9123_683e, 0x794c_7630].map(of), [Storage::Disk; 4]);
        assert_eq!([0x0102_1994, 0x8584_58f6].map(of), [Storage::Memory; 2]);
        assert_eq!([0x6969, 0xffff_ffff_ff53_4d42, 0x6573_5546].map(of), [Storage::Elsewhere; 3]);
    }
}
