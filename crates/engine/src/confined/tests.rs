//! Ways out of a directory, and what stands in it that is no file.

use std::{fs, os::unix::fs::symlink, os::unix::net::UnixListener, path::PathBuf};

use proptest::{collection::vec, prelude::*};

use super::*;

/// A directory with a file, and a secret outside of it.
struct Around {
    directory: tempfile::TempDir,
    inside: ConfinedDirectory,
}

impl Around {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("in/deep/er")).unwrap();
        fs::write(directory.path().join("in/file"), "inside").unwrap();
        fs::write(directory.path().join("secret"), "outside").unwrap();
        let inside = ConfinedDirectory::open(&directory.path().join("in")).unwrap();
        Self { directory, inside }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn link(&self, from: &str, to: impl AsRef<Path>) {
        symlink(to, self.path("in").join(from)).unwrap();
    }

    fn said(&self, name: &str) -> String {
        match self.inside.read(Path::new(name), 64) {
            Ok(bytes) => String::from_utf8(bytes).unwrap(),
            Err(refusal) => refusal.to_string(),
        }
    }
}

#[test]
fn what_lies_inside_is_read_by_any_way_that_stays_there() {
    let around = Around::new();
    around.link("link", "file");
    around.link("deep/up", "../link");
    around.link("deep/er/top", "../..");
    around.link("absolute", around.path("in/file").canonicalize().unwrap());
    let absolute = around.inside.path().join("deep/../file");
    for name in [
        "file",
        "./file",
        "deep/../file",
        "link",
        "deep/up",
        "deep/er/top/link",
        "absolute",
        absolute.to_str().unwrap(),
    ] {
        assert_eq!(around.said(name), "inside", "{name}");
    }
}

#[test]
fn no_way_leads_out() {
    let around = Around::new();
    around.link("link", "../secret");
    around.link("above", "..");
    around.link("absolute", around.path("secret"));
    around.link("deep/far", "../../secret");
    around.link("root", "/");
    let secret = around.path("secret");
    let dotted = around.inside.path().join("../secret");
    for name in [
        "../secret",
        "deep/../../secret",
        "link",
        "above/secret",
        "above/in/file",
        "absolute",
        "deep/far",
        "root/etc/passwd",
        secret.to_str().unwrap(),
        dotted.to_str().unwrap(),
    ] {
        assert_eq!(around.said(name), "it leads out of the project", "{name}");
    }
    for name in [Path::new("above"), Path::new("root"), Path::new("..")] {
        assert!(matches!(around.inside.names(name, 9), Err(FileRefusal::LeadsOut)), "{}", name.display());
    }
}

#[test]
fn what_is_no_regular_file_is_refused_by_its_kind() {
    let around = Around::new();
    let fifo = around.path("in/fifo");
    system::mknodat(system::CWD, &fifo, system::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let _listener = UnixListener::bind(around.path("in/socket")).unwrap();
    around.link("loop", "loop");
    fs::write(around.path("in/large"), [0; 65]).unwrap();
    let said =
        ["fifo", "socket", "deep", "deep/..", ".", "loop", "large", "file/below", "absent"].map(|it| around.said(it));
    let expected = [
        "it is a named pipe",
        "it is a socket",
        "it is a directory",
        "it is a directory",
        "it is a directory",
        "it leads through too many links",
        "it has more than 64 bytes",
        "it cannot be read",
        "it cannot be read",
    ];
    assert_eq!(said, expected);
    assert!(around.inside.read(Path::new("absent"), 1).unwrap_err().is_absence());
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_of_the_kernel_looks_regular_and_is_refused() {
    let kernel = ConfinedDirectory::open(Path::new("/proc/self")).unwrap();
    let refusal = kernel.read(Path::new("environ"), 1024).unwrap_err();
    assert_eq!(refusal.to_string(), "it is a file of the kernel");
}

#[test]
fn a_person_may_name_anything_that_is_regular_and_bounded() {
    let around = Around::new();
    around.link("link", "../secret");
    assert_eq!(read_named(&around.path("in/link"), 7).unwrap(), b"outside");
    let said = |path: &Path| read_named(path, 6).unwrap_err().to_string();
    let fifo = around.path("in/fifo");
    system::mknodat(system::CWD, &fifo, system::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    assert_eq!(said(&fifo), "it is a named pipe");
    assert_eq!(said(&around.path("in/link")), "it has more than 6 bytes");
    assert_eq!(said(Path::new("/dev/zero")), "it is a device");
    let _listener = UnixListener::bind(around.path("in/socket")).unwrap();
    assert_eq!(said(&around.path("in/socket")), "it is a socket");
}

#[test]
fn what_is_found_is_read_only_if_it_is_regular_and_of_a_usual_size() {
    let around = Around::new();
    let path = around.path("in/settings.json");
    fs::write(&path, "{}").unwrap();
    assert_eq!(read_found(&path).unwrap(), b"{}");
    fs::File::options().write(true).open(&path).unwrap().set_len(5 << 20).unwrap();
    assert_eq!(read_found(&path).unwrap_err().to_string(), "it has more than 4 MiB");
    let fifo = around.path("in/fifo");
    system::mknodat(system::CWD, &fifo, system::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let said = |path: &Path| open_found(path).unwrap_err().to_string();
    let said = [said(&fifo), said(&around.path("in")), said(Path::new("/dev/zero"))];
    assert_eq!(said, ["it is a named pipe", "it is a directory", "it is a device"]);
    assert_eq!(open_found(&around.path("in/absent")).unwrap_err().kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn a_directory_is_listed_as_far_as_it_may() {
    let around = Around::new();
    let mut names = around.inside.names(Path::new(""), 2).unwrap();
    names.sort();
    assert_eq!(names, ["deep", "file"]);
    assert!(matches!(around.inside.names(Path::new(""), 1), Err(FileRefusal::TooMany { max_names: 1 })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever links there are and however a name goes, what is read lies inside.
    #[test]
    fn nothing_outside_is_ever_read(
        links in vec((0..3usize, vec(0..7usize, 1..5)), 0..4),
        name in vec(0..7usize, 1..6),
    ) {
        let around = Around::new();
        let way = |steps: &[usize]| {
            let words = ["..", "deep", "er", "a", "b", "secret", "file"];
            steps.iter().map(|step| words[*step]).collect::<PathBuf>()
        };
        for (place, target) in links {
            // A second link of one name is none.
            let _made = symlink(way(&target), around.path(["in/a", "in/deep/b", "in/b"][place]));
        }
        if let Ok(bytes) = around.inside.read(&way(&name), 64) {
            prop_assert_eq!(bytes, b"inside");
        }
    }
}
