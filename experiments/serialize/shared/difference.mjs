/** The first place where a decoded value is not what it should be, on one line; nothing if there is none. */
export function difference(actual, expected, place = "") {
  if (!isObject(expected) || !isObject(actual)) {
    return Object.is(actual, expected)
      ? undefined
      : `${place} is ${say(actual)} instead of ${say(expected)}`;
  }
  if (Array.isArray(actual) !== Array.isArray(expected))
    return `${place} is ${say(actual)}`;
  for (const key of Object.keys(expected)) {
    if (!Object.hasOwn(actual, key)) return `${place}/${key} is missing`;
    const found = difference(actual[key], expected[key], `${place}/${key}`);
    if (found) return found;
  }
  const extra = Object.keys(actual).find(
    (key) => !Object.hasOwn(expected, key),
  );
  return extra === undefined ? undefined : `${place}/${extra} is too much`;
}

const isObject = (value) => typeof value === "object" && value !== null;

const say = (value) => (JSON.stringify(value) ?? String(value)).slice(0, 100);
