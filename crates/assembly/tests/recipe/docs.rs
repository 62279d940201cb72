//! The examples of the documentation are good recipes, and no word is left out of its tables.

use contexture_assembly::{
    recipe::{
        IfMissing, OVERFLOW_STRATEGIES, Recipe, Rendering, RequiredOverflow, SourceKind, Stability, Syntax, TopicEnd,
        built_in,
    },
    standard::{Audience, ContextScope},
};

use crate::read;

const DOCS: &str = include_str!("../../../../docs/recipes.md");

fn examples(language: &str) -> Vec<&'static str> {
    DOCS.split("```").filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).collect()
}

#[test]
fn every_example_is_a_good_recipe() {
    let toml: Vec<Recipe> = examples("toml").into_iter().map(|text| read(Syntax::Toml, text)).collect();
    let json: Vec<Recipe> = examples("json").into_iter().map(|text| read(Syntax::Json, text)).collect();
    assert_eq!((toml.len(), json.len()), (3, 1));
    assert_eq!((toml[0].name.as_str(), json[0].name.as_str()), ("fix", "worker"));
}

#[test]
fn every_word_is_documented() {
    let sources = SourceKind::ALL.iter().map(|kind| kind.as_str());
    let words = sources
        .chain(Audience::ALL.iter().map(|audience| audience.as_str()))
        .chain(Rendering::ALL.iter().map(|rendering| rendering.as_str()))
        .chain(ContextScope::ALL.iter().map(|scope| scope.as_str()))
        .chain(Stability::ALL.iter().map(|stability| stability.as_str()))
        .chain(TopicEnd::ALL.iter().map(|end| end.as_str()))
        .chain(IfMissing::ALL.iter().map(|word| word.as_str()))
        .chain(RequiredOverflow::ALL.iter().map(|required| required.as_str()))
        .chain(OVERFLOW_STRATEGIES.iter().map(|strategy| strategy.as_str()))
        .chain(built_in().map(|built_in| built_in.name));
    let undocumented: Vec<_> = words.filter(|word| !DOCS.contains(&format!("`{word}`"))).collect();
    assert_eq!(undocumented, [""; 0]);
}
