// Serves the contender that is named: one file each, beside this one.
import { work } from "../../shared/worker.mjs";

const [name] = process.argv.slice(2);
work(name, await import(`./${name}.mjs`));
