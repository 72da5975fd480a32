import { readFileSync } from "node:fs";

/** Prints the versions of Node.js and of what the package.json of a contender pins. */
export function printVersion(contender) {
  const file = new URL("package.json", contender);
  const { dependencies } = JSON.parse(readFileSync(file, "utf8"));
  const libraries = Object.entries(dependencies).map((pair) => pair.join(" "));
  console.log([`Node.js ${process.versions.node}`, ...libraries].join(", "));
}
