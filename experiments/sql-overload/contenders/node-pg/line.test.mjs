import assert from "node:assert/strict";
import { test } from "node:test";
import { Line, Refused } from "./line.mjs";

for (const [lastFirst, expected] of [
  [false, "abc"],
  [true, "acb"],
]) {
  test(`last first: ${lastFirst}`, async () => {
    const line = new Line({ free: 1, waitingMax: 2, lastFirst });
    let turns = "";
    const take = (name) => line.within(async () => (turns += name));
    const all = Promise.all([take("a"), take("b"), take("c")]);
    await assert.rejects(take("d"), Refused);
    await all;
    assert.equal(turns, expected);
  });
}

test("patience", async () => {
  const line = new Line({ free: 1 });
  let end;
  const long = line.within(() => new Promise((resolve) => (end = resolve)));
  await assert.rejects(
    line.within(async () => {}),
    Refused,
  );
  end();
  await long;
  assert.equal(await line.within(async () => 1), 1);
});
