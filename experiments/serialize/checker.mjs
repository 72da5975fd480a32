// Decodes the sample in each answer and compares it with the login that the seed gives. Speaks the task protocol.
import { join } from "node:path";
import { serve } from "../../kits/node/kumite-kit.mjs";
import { difference } from "./shared/difference.mjs";
import { encodingsOf, makeLogins } from "./shared/logins.mjs";
import { decodeStruct } from "./shared/struct.mjs";

// Formats of libraries are decoded by their libraries, which are where the contender is built that answered.
const library = (name, folder) => import(join(folder, `${name}.mjs`));
const decoders = {
  struct: () => ({ decode: (bytes) => decodeStruct(bytes, true) }),
  "struct-be": () => ({ decode: (bytes) => decodeStruct(bytes, false) }),
  json: () => ({ decode: (bytes) => JSON.parse(bytes) }),
  "v8-serialize": library,
  msgpackr: library,
  protobufjs: library,
  avsc: library,
  flatbuffers: library,
};

const wrong = (why) => ({ right: false, why });

let known;
function loginsOf({ logins, items, seed, names }) {
  const key = JSON.stringify([logins, items, seed, names]);
  if (known?.key !== key)
    known = { key, logins: makeLogins({ logins, items, seed, names }) };
  return known.logins;
}

serve("serialize-checker", async ({ params: { params, result, folder } }) => {
  const encodings = encodingsOf(params);
  if (result?.compared !== encodings)
    return wrong(`${result?.compared} of ${encodings} outputs were compared`);
  const { format, sample } = result;
  if (!Object.hasOwn(decoders, format))
    return wrong(`no format ${format} is known`);
  const login = loginsOf(params)[sample?.login];
  if (!login) return wrong(`there is no login ${sample?.login}`);

  let decoded;
  try {
    const { decode } = await decoders[format](format, folder);
    decoded = decode(Buffer.from(sample.bytes, "base64"));
  } catch (error) {
    return wrong(
      `login ${sample.login} cannot be decoded: ${error.message.replace(/\s+/g, " ")}`,
    );
  }
  const found = difference(decoded, login);
  return found ? wrong(`login ${sample.login}: ${found}`) : { right: true };
});
