//! The description of an enum's tag in a schema.

use schemars::Schema;
use serde_json::Value;

/// Gives the key that tells variants apart a description, which the derive has no place for.
pub(crate) fn describe_tag(schema: &mut Schema) {
    // An enum with a variant for values of a later kumite has `anyOf`, every other one `oneOf`.
    for key in ["oneOf", "anyOf"] {
        let variants = schema.get_mut(key).and_then(Value::as_array_mut);
        for variant in variants.into_iter().flatten() {
            if let Some(tag) = variant.pointer_mut("/properties/what").and_then(Value::as_object_mut) {
                tag.insert("description".to_owned(), "Which of them it is.".into());
            }
        }
    }
}
