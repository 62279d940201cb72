//! Prints how fast the files of a folder are scanned, and what is found there by rule.

use std::{collections::BTreeMap, env, fs, path::PathBuf, time::Instant};

use contexture_secrets::Scanner;

fn main() {
    let started = Instant::now();
    let scanner = Scanner::new();
    println!("made in {:?}", started.elapsed());
    let show = env::args().nth(2);
    let mut folders = vec![PathBuf::from(env::args().nth(1).expect("the first argument is a folder"))];
    let (mut bytes, mut seconds) = (0, 0.0);
    let mut rules: BTreeMap<String, usize> = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder can be listed").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let content = fs::read(&path).expect("the file can be read");
            let started = Instant::now();
            let found = scanner.scan(&content);
            let took = started.elapsed().as_secs_f64();
            seconds += took;
            bytes += content.len();
            for span in found {
                if show.as_deref() == Some(span.rule.as_str()) {
                    let from = span.start.saturating_sub(60);
                    println!("{}", String::from_utf8_lossy(&content[from..content.len().min(span.end() + 10)]));
                }
                *rules.entry(span.rule.to_string()).or_default() += 1;
            }
        }
    }
    #[allow(clippy::cast_precision_loss, reason = "for people to read")]
    let megabytes = bytes as f64 / 1e6;
    println!("{megabytes:.1} MB, {:.0} MB/s", megabytes / seconds);
    for (rule, count) in rules {
        println!("{count:6} {rule}");
    }
}
