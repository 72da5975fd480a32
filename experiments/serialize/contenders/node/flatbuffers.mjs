import { Builder, ByteBuffer } from "flatbuffers";
import { Item, Login, Player } from "./login_generated.mjs";

export const format = "flatbuffers";

// Kept, since it keeps the room that it once grew to.
const builder = new Builder(1024);

export function encode({ player, items }) {
  builder.clear();
  const offsets = items.map((item) =>
    Item.createItem(
      builder,
      builder.createString(item.uuid),
      item.itemId,
      item.count,
      item.level,
      item.flags,
      BigInt(item.acquiredAt),
    ),
  );
  const itemsOffset = Login.createItemsVector(builder, offsets);
  const playerOffset = Player.createPlayer(
    builder,
    builder.createString(player.uuid),
    builder.createString(player.name),
    player.level,
    BigInt(player.experience),
    BigInt(player.coins),
    player.gems,
    player.stamina,
    BigInt(player.lastLoginAt),
  );
  Login.startLogin(builder);
  Login.addPlayer(builder, playerOffset);
  Login.addItems(builder, itemsOffset);
  builder.finish(Login.endLogin(builder));
  return Buffer.from(builder.asUint8Array());
}

const open = (bytes) => Login.getRootAsLogin(new ByteBuffer(bytes));

export function decode(bytes) {
  const login = open(bytes);
  const player = login.player();
  return {
    player: {
      uuid: player.uuid(),
      name: player.name(),
      level: player.level(),
      experience: Number(player.experience()),
      coins: Number(player.coins()),
      gems: player.gems(),
      stamina: player.stamina(),
      lastLoginAt: Number(player.lastLoginAt()),
    },
    items: Array.from({ length: login.itemsLength() }, (_, i) => {
      const item = login.items(i);
      return {
        uuid: item.uuid(),
        itemId: item.itemId(),
        count: item.count(),
        level: item.level(),
        flags: item.flags(),
        acquiredAt: Number(item.acquiredAt()),
      };
    }),
  };
}

export function sumCounts(bytes) {
  const login = open(bytes);
  const item = new Item();
  let sum = 0;
  for (let i = 0; i < login.itemsLength(); i++)
    sum += login.items(i, item).count();
  return sum;
}
