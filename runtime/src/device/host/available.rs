//! Available host memory: what Linux reports as available, within the limits of control groups.

use std::path::{Path, PathBuf};

/// Mount point of control groups.
const GROUPS: &str = "/sys/fs/cgroup";

/// Bytes that can still be allocated without swapping, and within the limits of every control group of this process;
/// `None` if unknown.
pub(in crate::device) fn available() -> Option<usize> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    [of_system(), of_groups(Path::new(GROUPS), &groups)].into_iter().flatten().min()
}

fn of_system() -> Option<usize> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kibibytes: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// The least memory that the groups in `/proc/self/cgroup` and their ancestors leave. Lines have the form
/// `number:controllers:path`. In a container the path may be that on the host, while the container's own group is
/// mounted at the root; the root is therefore always checked too.
fn of_groups(root: &Path, groups: &str) -> Option<usize> {
    let group = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let path = path.trim_start_matches('/');
        match controllers {
            "" => left(root, Path::new(path), ["memory.max", "memory.current"], "inactive_file"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                let files = ["memory.limit_in_bytes", "memory.usage_in_bytes"];
                left(&root.join("memory"), Path::new(path), files, "total_inactive_file")
            }
            _ => None,
        }
    };
    groups.lines().filter_map(group).min()
}

/// The least memory that a group and its ancestors leave: the limit minus the usage, not counting droppable file pages.
fn left(root: &Path, path: &Path, [limit, used]: [&str; 2], droppable: &str) -> Option<usize> {
    let of_group = |folder: PathBuf| {
        let number = |name: &str| std::fs::read_to_string(folder.join(name)).ok()?.trim().parse::<usize>().ok();
        let (limit, used) = (number(limit)?, number(used)?);
        let statistics = std::fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let line = statistics.lines().find_map(|line| line.strip_prefix(droppable)?.trim().parse::<usize>().ok());
        Some(limit.saturating_sub(used.saturating_sub(line.unwrap_or(0))))
    };
    path.ancestors().filter_map(|path| of_group(root.join(path))).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, group: &str, files: &[(&str, &str)]) {
        let folder = root.join(group);
        std::fs::create_dir_all(&folder).unwrap();
        files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
    }

    #[test]
    fn the_tightest_of_the_control_groups_around_a_process_counts() {
        let root = tempfile::tempdir().unwrap();
        let statistics = "anon 100\ninactive_file 50\n";
        write(root.path(), "a", &[("memory.max", "1000\n"), ("memory.current", "300\n"), ("memory.stat", statistics)]);
        write(root.path(), "a/b", &[("memory.max", "max\n"), ("memory.current", "200\n")]);
        assert_eq!(of_groups(root.path(), "0::/a/b\n"), Some(750));
        write(root.path(), "a/b", &[("memory.max", "400\n")]);
        assert_eq!(of_groups(root.path(), "0::/a/b\n"), Some(200));
        assert_eq!(of_groups(root.path(), "0::/\n"), None);
    }

    #[test]
    fn a_container_that_sees_the_path_from_outside_is_limited_by_its_root() {
        let root = tempfile::tempdir().unwrap();
        let files = [("memory.limit_in_bytes", "4096\n"), ("memory.usage_in_bytes", "1096\n")];
        write(root.path(), "memory", &files);
        assert_eq!(of_groups(root.path(), "5:cpu:/x\n4:memory:/docker/0123\n"), Some(3000));
    }

    #[test]
    fn the_system_says_what_is_available() {
        assert!(available().is_none_or(|bytes| bytes > 1 << 20));
    }
}
