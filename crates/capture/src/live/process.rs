//! Processes of this machine: who started whom, and who is still there.

use std::process;

use crate::Process;

/// Programs that only start others for an agent.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox", "env", "timeout", "nice"];
/// No chain of processes is longer.
const MAX_ANCESTORS: usize = 64;

/// What the machine knows of a process.
struct KnownProcess {
    process: Process,
    parent: u32,
    name: String,
}

/// Returns the processes that this one was started by with what they are called, the nearest first.
pub(crate) fn named_ancestors() -> impl Iterator<Item = (Process, String)> {
    lineage().map(|known| (known.process, known.name))
}

/// Returns the process that this one works for: the nearest that is no shell.
pub fn nearest_agent() -> Option<Process> {
    let is_shell = |known: &KnownProcess| SHELLS.contains(&known.name.trim_start_matches('-'));
    lineage().find(|known| !is_shell(known)).map(|known| known.process)
}

/// Returns this process.
pub fn own_process() -> Option<Process> {
    look_up(process::id()).map(|known| known.process)
}

/// Returns the process that has a number now.
pub(crate) fn running(pid: u32) -> Option<Process> {
    look_up(pid).map(|known| known.process)
}

/// Tells whether a process is still there, and not another one that got its number.
pub(crate) fn is_alive(process: &Process) -> bool {
    look_up(process.pid).is_some_and(|known| known.process == *process)
}

/// Returns what this machine is called among those that it may share files with.
#[cfg(target_os = "linux")]
pub(crate) fn host() -> std::io::Result<String> {
    Ok(std::fs::read_to_string("/proc/sys/kernel/hostname")?.trim().to_owned())
}

/// Returns what this machine is called among those that it may share files with.
#[cfg(not(target_os = "linux"))]
pub(crate) fn host() -> std::io::Result<String> {
    let asked = process::Command::new("uname").arg("-n").output()?;
    Ok(String::from_utf8_lossy(&asked.stdout).trim().to_owned())
}

fn lineage() -> impl Iterator<Item = KnownProcess> {
    let parent = look_up(process::id()).map(|own| own.parent);
    let first = parent.and_then(look_up);
    std::iter::successors(first, |known| look_up(known.parent)).take(MAX_ANCESTORS)
}

/// What tells one start of the machine from another.
#[cfg(target_os = "linux")]
static BOOT: std::sync::OnceLock<String> = std::sync::OnceLock::new();

#[cfg(target_os = "linux")]
fn look_up(pid: u32) -> Option<KnownProcess> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in brackets and may hold some itself; the fields after it are numbers.
    let (head, rest) = stat.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let mut fields = rest.split_ascii_whitespace();
    // The first two are state and parent; the start, in ticks since the machine started, is the 20th.
    let (state, parent) = (fields.next()?, fields.next()?.parse().ok()?);
    let ticks = fields.nth(17)?;
    if state == "Z" {
        return None;
    }
    let boot = BOOT.get_or_init(|| std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default());
    let started = format!("{ticks}@{}", boot.trim());
    Some(KnownProcess { process: Process { pid, started }, parent, name: name.to_owned() })
}

#[cfg(not(target_os = "linux"))]
fn look_up(pid: u32) -> Option<KnownProcess> {
    let asked =
        process::Command::new("ps").args(["-o", "ppid=,lstart=,comm=", "-p", &pid.to_string()]).output().ok()?;
    let line = String::from_utf8(asked.stdout).ok()?;
    let mut words = line.split_whitespace();
    let parent = words.next()?.parse().ok()?;
    let started: Vec<&str> = words.by_ref().take(5).collect();
    let name = words.collect::<Vec<_>>().join(" ");
    let name = name.rsplit('/').next().unwrap_or_default().to_owned();
    Some(KnownProcess { process: Process { pid, started: started.join(" ") }, parent, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_who_started_it_and_who_is_gone() {
        let mut child = process::Command::new("sleep").arg("60").spawn().unwrap();
        let known = look_up(child.id()).unwrap();
        assert_eq!(known.parent, process::id());
        assert!(is_alive(&known.process));
        assert!(!is_alive(&Process { started: "before".to_owned(), ..known.process.clone() }));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_alive(&known.process));
        assert!(nearest_agent().is_some());
    }
}
