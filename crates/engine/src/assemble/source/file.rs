//! Files: the system prompt's, instructions, and those to be read.

use std::path::Path;

use contexture_assembly::{Hold, ItemContent, Voice, recipe::FileNamer, standard::ContextKind};

use super::{Gathering, ItemDraft, fenced, given_text, origin};
use crate::FileRefusal;

impl Gathering<'_> {
    pub(super) fn system(&mut self, text: Option<&str>, file: Option<&str>) -> Vec<ItemDraft> {
        if let Some(text) = text {
            return vec![given_text::system(text, "recipe:system".to_owned(), Hold::Pinned)];
        }
        let read = file.and_then(|file| Some((file, self.read(Path::new(file), self.files.recipe, Absent::Gap)?)));
        read.map(|(file, text)| given_text::system(&text, uri(file), Hold::Live)).into_iter().collect()
    }

    pub(super) fn instructions(&mut self, files: &[String]) -> Vec<ItemDraft> {
        let mut drafts = Vec::new();
        for file in files {
            let Some(text) = self.read(Path::new(file), self.files.recipe, Absent::Fine) else { continue };
            drafts.push(ItemDraft {
                id: format!("instructions:{file}"),
                kind: ContextKind::DeveloperInstruction,
                title: Some(file.clone()),
                origin: origin("file", uri(file), text.as_bytes(), Hold::Live, None),
                content: ItemContent::Text { text, voice: Voice::System, fenced: true },
                compact: None,
                messages: Vec::new(),
            });
        }
        drafts
    }

    /// Reads the recipe's files and those of the caller.
    pub(super) fn files(&mut self, files: &[String]) -> Vec<ItemDraft> {
        let given = self.request.files.iter().map(|file| (file.to_string_lossy().into_owned(), FileNamer::Person));
        let named = files.iter().map(|file| (file.clone(), self.files.recipe));
        let mut all: Vec<(String, FileNamer)> = Vec::new();
        for (file, namer) in named.chain(given) {
            match all.iter_mut().find(|(known, _)| *known == file) {
                // What a person names as well is theirs to name.
                Some((_, known)) if namer == FileNamer::Person => *known = namer,
                Some(_) => {}
                None => all.push((file, namer)),
            }
        }
        let mut drafts = Vec::new();
        for (file, namer) in all {
            let Some(text) = self.read(Path::new(&file), namer, Absent::Gap) else { continue };
            drafts.push(ItemDraft {
                id: format!("file:{file}"),
                kind: ContextKind::FileExcerpt,
                origin: origin("file", uri(&file), text.as_bytes(), Hold::Live, None),
                title: Some(file),
                content: fenced(text),
                compact: None,
                messages: Vec::new(),
            });
        }
        drafts
    }

    /// Reads a file of text; what cannot be read is noted.
    fn read(&mut self, file: &Path, namer: FileNamer, absent: Absent) -> Option<String> {
        let why = match self.files.read(file, namer).map(String::from_utf8) {
            Ok(Ok(text)) => return Some(self.guard.mask(&text).into_owned()),
            Ok(Err(_)) => "It is not text.".to_owned(),
            Err(refusal) if refusal.is_absence() && absent == Absent::Fine => return None,
            Err(refusal) => sentence(&refusal),
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

/// Says in a sentence why a file was not read.
fn sentence(refusal: &FileRefusal) -> String {
    let said = refusal.to_string();
    let said = said.strip_prefix("it").unwrap_or(&said);
    match refusal {
        FileRefusal::Unreadable(error) => format!("It{said}: {error}."),
        _ => format!("It{said}."),
    }
}
