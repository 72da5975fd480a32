import { createRequire } from "node:module";

export default createRequire(import.meta.url)("./build/Release/login.node");
