//! The text of `kumite doctor --on`: several hosts beside each other.

use kumite_record::{Finding, NodeFindings};

use crate::words::text::one_line;

/// The text on several hosts: the findings that differ, with a line for each host; then those that are the same on
/// all.
pub fn diagnoses(found: &[NodeFindings]) -> String {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for finding in found.iter().flat_map(|of| &of.findings) {
        let name = (finding.group.as_str(), finding.name.as_str());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let (mut differs, mut same) = (String::new(), String::new());
    for (group, name) in names {
        let of_node = |of: &NodeFindings| {
            let is_it = |finding: &&Finding| finding.group == group && finding.name == name;
            of.findings.iter().find(is_it).map_or("nothing".to_owned(), |finding| one_line(&finding.found))
        };
        let all: Vec<String> = found.iter().map(of_node).collect();
        let heading = format!("{} {}", one_line(group), one_line(name));
        if all.iter().all(|one| *one == all[0]) {
            same += &format!("  {heading}: {}\n", all[0]);
        } else {
            differs += &format!("  {heading}\n");
            for (of, one) in found.iter().zip(&all) {
                differs += &format!("    {}: {one}\n", of.node);
            }
        }
    }
    let nothing = |text: String| if text.is_empty() { "  nothing\n".to_owned() } else { text };
    format!("DIFFERENT\n{}\nTHE SAME ON ALL\n{}", nothing(differs), nothing(same))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, found: &[(&str, &str)]) -> NodeFindings {
        let finding = |(name, found): &(&str, &str)| Finding::ok("cpu", name, *found);
        NodeFindings { node: name.to_owned(), findings: found.iter().map(finding).collect() }
    }

    #[test]
    fn what_differs_comes_first_with_each_host_that_lacks_it() {
        let found = [
            node("n1", &[("model", "AMD"), ("count", "2")]),
            node("n2", &[("model", "AMD"), ("count", "8\x1b[2J"), ("governor", "powersave")]),
        ];
        assert_eq!(
            diagnoses(&found),
            "DIFFERENT\n  cpu count\n    n1: 2\n    n2: 8\u{fffd}[2J\n  cpu governor\n    n1: nothing\n    n2: powersave\n\n\
             THE SAME ON ALL\n  cpu model: AMD\n"
        );
    }
}
