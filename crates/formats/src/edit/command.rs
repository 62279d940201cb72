//! Files that commands write: texts that a shell is given on the spot and puts into a file.

use contexture_core::ToolInput;
use serde_json::Value;

use super::{Edit, Extent, Line, placed};

/// What a command line is called.
const COMMANDS: [&str; 3] = ["command", "cmd", "script"];

/// Returns the files that the commands of a call write with `cat > FILE <<WORD` or `tee FILE <<WORD`.
///
/// Other commands change files too; what they write cannot be told from the command.
pub fn by_commands(input: &ToolInput) -> Vec<Edit> {
    let ToolInput::Json(Value::Object(object)) = input else { return Vec::new() };
    let texts = COMMANDS.iter().filter_map(|key| object.get(*key)).flat_map(|value| match value {
        Value::String(text) => vec![text.as_str()],
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    });
    let mut edits: Vec<_> = texts.flat_map(written).collect();
    for path in edits.iter_mut().filter_map(|edit| edit.path.as_mut()) {
        *path = placed(object, path);
    }
    edits
}

fn written(script: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut lines = script.lines();
    while let Some(line) = lines.next() {
        let Some(document) = HereDocument::opened_by(line) else { continue };
        // What goes to another program is passed over too: it may look like a command.
        let body: Vec<&str> = lines.by_ref().take_while(|line| !document.ends_with(line)).collect();
        if let Some((path, extent)) = document.file {
            let lines = body.into_iter().map(|line| Line::Added(line.to_owned())).collect();
            edits.push(Edit { path: Some(path), extent, lines });
        }
    }
    edits
}

/// A text that stands in a script.
struct HereDocument {
    end: String,
    /// Whether tabs before its end are no part of it.
    is_indented: bool,
    /// Where it goes, when that is a file.
    file: Option<(String, Extent)>,
}

impl HereDocument {
    fn opened_by(line: &str) -> Option<Self> {
        let (_, rest) = line.split_once("<<")?;
        // Three are for a single word.
        if rest.starts_with('<') {
            return None;
        }
        let (rest, is_indented) = rest.strip_prefix('-').map_or((rest, false), |rest| (rest, true));
        let end: String = words(rest).into_iter().next()?.trim_start_matches('\\').to_owned();
        Some(Self { end, is_indented, file: target(&words(line)) })
    }

    fn ends_with(&self, line: &str) -> bool {
        let line = if self.is_indented { line.trim_start_matches('\t') } else { line };
        line.trim_end_matches('\r') == self.end
    }
}

/// Returns the file that `cat` or `tee` writes, and whether that is all of it.
fn target(words: &[String]) -> Option<(String, Extent)> {
    let place = words.iter().position(|word| word == "cat" || word == "tee")?;
    let mut rest = words[place + 1..].iter().take_while(|word| !matches!(word.as_str(), "|" | "&&" | "||" | ";"));
    let mut extent = Extent::Whole;
    while let Some(word) = rest.next() {
        let file = match (word.strip_prefix(">>"), word.strip_prefix('>')) {
            (Some(file), _) => {
                extent = Extent::Part;
                file
            }
            (None, Some(file)) => file,
            (None, None) if word == "-a" => {
                extent = Extent::Part;
                continue;
            }
            (None, None) if words[place] == "tee" && !word.starts_with(['-', '<']) => {
                return Some((word.clone(), extent));
            }
            (None, None) => continue,
        };
        return match file {
            "" => rest.next().map(|file| (file.clone(), extent)),
            // Another stream, no file.
            file if file.starts_with(['&', '|']) => None,
            file => Some((file.to_owned(), extent)),
        };
    }
    None
}

/// Cuts a line into words as a shell does, without quotation marks.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for char in line.chars() {
        match (quote, char) {
            (Some(mark), char) if mark == char => quote = None,
            (None, '\'' | '"') => quote = Some(char),
            (None, char) if char.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            (None, '<' | '>') if !word.is_empty() && !word.ends_with(char) => {
                words.push(std::mem::replace(&mut word, char.to_string()));
            }
            (_, char) => word.push(char),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(input: Value) -> Vec<String> {
        let line = |line: &Line| match line {
            Line::Added(text) => text.clone(),
            other => format!("{other:?}"),
        };
        let edit = |edit: Edit| {
            let sign = if edit.extent == Extent::Whole { "=" } else { "+" };
            let lines: Vec<_> = edit.lines.iter().map(line).collect();
            format!("{}{sign}{}", edit.path.unwrap(), lines.join("|"))
        };
        by_commands(&ToolInput::Json(input)).into_iter().map(edit).collect()
    }

    #[test]
    fn texts_that_a_shell_puts_into_files_are_edits() {
        for (command, expected) in [
            ("cat > a.rs <<'EOF'\nx\n\ny\nEOF\ncargo test", "a.rs=x||y"),
            ("cat <<EOF > \"b c.rs\"\nx\nEOF", "b c.rs=x"),
            ("cat <<EOF >>a\nx\nEOF", "a+x"),
            ("mkdir -p d && cat >d/a <<-\"END\"\n\tx\n\tEND", "d/a=\tx"),
            ("tee -a a <<\\EOF >/dev/null\nx\nEOF", "a+x"),
            ("sudo tee /etc/a <<EOF\nx\n", "/etc/a=x"),
        ] {
            assert_eq!(written(json!({"command": command})), [expected], "{command}");
        }
        let script = "cat > a <<EOF\n1\nEOF\ncat > b <<EOF\n2\nEOF";
        assert_eq!(written(json!({"cmd": ["bash", "-lc", script], "workdir": "/w"})), ["/w/a=1", "/w/b=2"]);
    }

    #[test]
    fn other_commands_write_nothing_that_can_be_known() {
        for command in [
            "ls > a",
            "python - <<EOF\ncat > a <<X\nEOF",
            "cat <<EOF | sh\nx\nEOF",
            "cat <<EOF >&2\nx\nEOF",
            "grep x <<< word",
            "x <<",
        ] {
            assert_eq!(written(json!({"command": command})), Vec::<String>::new(), "{command}");
        }
        assert_eq!(by_commands(&ToolInput::Text("cat > a <<EOF\nx\nEOF".into())), []);
    }
}
