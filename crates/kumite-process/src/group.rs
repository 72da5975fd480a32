#![allow(missing_docs)]
use crate::Error;
use std::time::Duration;
#[derive(Debug)]
pub struct Group;
#[derive(Clone, Debug)]
pub struct Control {
    pub cpu: Result<(), String>,
    pub memory: Result<(), String>,
    pub freezer: Result<(), String>,
}
impl Control {
    pub fn look() -> Control {
        let e = || Err("not yet".to_owned());
        Control { cpu: e(), memory: e(), freezer: e() }
    }
}
impl Group {
    pub fn new() -> Result<Group, Error> {
        Ok(Group)
    }
    pub fn limit_cpu(&self, _: Option<f64>) -> Result<(), Error> {
        Ok(())
    }
    pub fn limit_memory(&self, _: u64) -> Result<(), Error> {
        Ok(())
    }
    pub fn freeze(&self) -> Result<(), Error> {
        Ok(())
    }
    pub fn thaw(&self) -> Result<(), Error> {
        Ok(())
    }
    pub fn cpu(&self) -> Result<Duration, Error> {
        Ok(Duration::ZERO)
    }
    pub fn oom_kills(&self) -> Option<u64> {
        None
    }
}
