//! Files: the system prompt's, instructions, and those to be read.

use std::{fs, io, path::Path};

use contexture_assembly::{Hold, ItemContent, Voice, standard::ContextKind};

use super::{Gathering, ItemDraft, fenced, given_text, origin};

/// A longer file is not read: no window takes it.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

impl Gathering<'_> {
    pub(super) fn system(&mut self, text: Option<&str>, file: Option<&str>) -> Vec<ItemDraft> {
        if let Some(text) = text {
            return vec![given_text::system(text, "recipe:system".to_owned(), Hold::Pinned)];
        }
        let read = file.and_then(|file| Some((file, self.read(Path::new(file), Absent::Gap)?)));
        read.map(|(file, text)| given_text::system(&text, uri(file), Hold::Live)).into_iter().collect()
    }

    pub(super) fn instructions(&mut self, files: &[String]) -> Vec<ItemDraft> {
        let mut drafts = Vec::new();
        for file in files {
            let Some(text) = self.read(Path::new(file), Absent::Fine) else { continue };
            drafts.push(ItemDraft {
                id: format!("instructions:{file}"),
                kind: ContextKind::DeveloperInstruction,
                title: Some(file.clone()),
                origin: origin("file", uri(file), text.as_bytes(), Hold::Live, None),
                content: ItemContent::Text { text, voice: Voice::System, fenced: true },
                compact: None,
            });
        }
        drafts
    }

    /// Reads the recipe's files and those of the caller.
    pub(super) fn files(&mut self, files: &[String]) -> Vec<ItemDraft> {
        let given = self.request.files.iter().map(|file| file.to_string_lossy().into_owned());
        let mut all: Vec<String> = Vec::new();
        for file in files.iter().cloned().chain(given) {
            if !all.contains(&file) {
                all.push(file);
            }
        }
        let mut drafts = Vec::new();
        for file in all {
            let Some(text) = self.read(Path::new(&file), Absent::Gap) else { continue };
            drafts.push(ItemDraft {
                id: format!("file:{file}"),
                kind: ContextKind::FileExcerpt,
                origin: origin("file", uri(&file), text.as_bytes(), Hold::Live, None),
                title: Some(file),
                content: fenced(text),
                compact: None,
            });
        }
        drafts
    }

    /// Reads a file of text; what cannot be read is noted.
    fn read(&mut self, file: &Path, absent: Absent) -> Option<String> {
        let path = self.request.directory.join(file);
        let why = match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => "It is a directory.".to_owned(),
            Ok(metadata) if metadata.len() > MAX_FILE_BYTES => {
                format!("It has {} bytes, more than {MAX_FILE_BYTES}.", metadata.len())
            }
            Ok(_) => match fs::read(&path).map(String::from_utf8) {
                Ok(Ok(text)) => return Some(self.guard.mask(&text).into_owned()),
                Ok(Err(_)) => "It is not text.".to_owned(),
                Err(error) => format!("It cannot be read: {error}."),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound && absent == Absent::Fine => return None,
            Err(error) => format!("It cannot be read: {error}."),
        };
        self.gap(&uri(&file.to_string_lossy()), &why);
        None
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Absent {
    Fine,
    Gap,
}

fn uri(file: &str) -> String {
    format!("file:{file}")
}
