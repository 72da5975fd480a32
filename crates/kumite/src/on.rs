//! `--on`: on which hosts something is done.

use kumite_agent::Host;

/// Where.
#[derive(Clone, Debug, PartialEq)]
pub enum On {
    /// Here.
    Local,
    /// On these hosts.
    Ssh(Vec<Host>),
}

pub fn parse(text: &str) -> Result<On, String> {
    if text == "local" {
        return Ok(On::Local);
    }
    let hosts = text.strip_prefix("ssh:").ok_or("write local, or ssh:HOST,HOST")?;
    let hosts: Vec<Host> = hosts.split(',').map(str::parse).collect::<Result<_, _>>()?;
    match hosts.iter().enumerate().find(|(nth, host)| hosts[..*nth].contains(host)) {
        Some((_, twice)) => Err(format!("{} is there twice: a host has one share", twice.name())),
        None => Ok(On::Ssh(hosts)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_once_each() {
        assert_eq!(parse("local"), Ok(On::Local));
        let Ok(On::Ssh(hosts)) = parse("ssh:n1,root@n2") else { panic!("no hosts") };
        assert_eq!(hosts.iter().map(Host::name).collect::<Vec<_>>(), ["n1", "root@n2"]);
        for text in ["", "ssh:", "ssh:a,a", "ssh:a,,b", "slurm:a", "ssh:-a"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
