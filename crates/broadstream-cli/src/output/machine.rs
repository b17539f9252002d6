//! The machine that results were measured on.

/// The name of the processor; empty if the system does not tell.
pub(crate) fn name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or(String::new(), |(_, name)| name.trim().to_owned())
}
