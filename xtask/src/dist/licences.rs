//! The licences of everything that is in the binary.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cargo_metadata::{DependencyKind, MetadataCommand, PackageId};

/// Each package with its licence and the texts that it comes with; equal texts once.
pub fn of_dependencies(root: &Path) -> Result<String, String> {
    let metadata = MetadataCommand::new()
        .current_dir(root)
        .other_options(["--locked".to_owned(), "--filter-platform=x86_64-unknown-linux-gnu".to_owned()])
        .exec()
        .map_err(|error| error.to_string())?;
    let resolve = metadata.resolve.as_ref().ok_or("cargo resolves nothing")?;
    let ours: BTreeSet<&PackageId> = metadata.workspace_members.iter().collect();
    let start =
        metadata.packages.iter().find(|package| package.name.as_str() == "kumite").ok_or("no kumite")?;
    let (mut seen, mut next) = (BTreeSet::new(), vec![&start.id]);
    while let Some(id) = next.pop() {
        if !seen.insert(id) {
            continue;
        }
        let node =
            resolve.nodes.iter().find(|node| node.id == *id).ok_or("a package that is not resolved")?;
        let is_used = |kind: &cargo_metadata::DepKindInfo| kind.kind == DependencyKind::Normal;
        next.extend(node.deps.iter().filter(|dep| dep.dep_kinds.iter().any(is_used)).map(|dep| &dep.pkg));
    }
    let mut list = String::new();
    let mut texts = BTreeMap::<String, Vec<String>>::new();
    let used =
        metadata.packages.iter().filter(|package| seen.contains(&package.id) && !ours.contains(&package.id));
    for package in used {
        let licence = package.license.as_deref().unwrap_or("see its text");
        let name = format!("{} {}", package.name, package.version);
        list += &format!("{name}: {licence}\n");
        let folder = package.manifest_path.parent().ok_or("a package without a folder")?;
        for entry in std::fs::read_dir(folder).map_err(|error| format!("{folder}: {error}"))?.flatten() {
            let file = entry.file_name().to_string_lossy().to_uppercase();
            let is_licence =
                ["LICENSE", "LICENCE", "COPYING", "NOTICE"].iter().any(|word| file.starts_with(word));
            if is_licence && let Ok(text) = std::fs::read_to_string(entry.path()) {
                texts.entry(text.trim().to_owned()).or_default().push(name.clone());
            }
        }
    }
    let texts = texts.into_iter().map(|(text, names)| format!("\n\n==== {}\n\n{text}\n", names.join(", ")));
    Ok(format!(
        "kumite is built with these packages, under these licences.\n\n{list}{}",
        texts.collect::<String>()
    ))
}
