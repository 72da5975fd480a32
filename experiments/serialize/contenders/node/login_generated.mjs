// Made from login.fbs: flatc 2.0.8 --ts, then esbuild --bundle --external:flatbuffers --format=esm.
// flout/login/item.ts
import * as flatbuffers from "flatbuffers";
var Item = class _Item {
  bb = null;
  bb_pos = 0;
  __init(i, bb) {
    this.bb_pos = i;
    this.bb = bb;
    return this;
  }
  static getRootAsItem(bb, obj) {
    return (obj || new _Item()).__init(
      bb.readInt32(bb.position()) + bb.position(),
      bb,
    );
  }
  static getSizePrefixedRootAsItem(bb, obj) {
    bb.setPosition(bb.position() + flatbuffers.SIZE_PREFIX_LENGTH);
    return (obj || new _Item()).__init(
      bb.readInt32(bb.position()) + bb.position(),
      bb,
    );
  }
  uuid(optionalEncoding) {
    const offset = this.bb.__offset(this.bb_pos, 4);
    return offset
      ? this.bb.__string(this.bb_pos + offset, optionalEncoding)
      : null;
  }
  itemId() {
    const offset = this.bb.__offset(this.bb_pos, 6);
    return offset ? this.bb.readUint32(this.bb_pos + offset) : 0;
  }
  count() {
    const offset = this.bb.__offset(this.bb_pos, 8);
    return offset ? this.bb.readUint32(this.bb_pos + offset) : 0;
  }
  level() {
    const offset = this.bb.__offset(this.bb_pos, 10);
    return offset ? this.bb.readUint16(this.bb_pos + offset) : 0;
  }
  flags() {
    const offset = this.bb.__offset(this.bb_pos, 12);
    return offset ? this.bb.readUint8(this.bb_pos + offset) : 0;
  }
  acquiredAt() {
    const offset = this.bb.__offset(this.bb_pos, 14);
    return offset ? this.bb.readInt64(this.bb_pos + offset) : BigInt("0");
  }
  static startItem(builder) {
    builder.startObject(6);
  }
  static addUuid(builder, uuidOffset) {
    builder.addFieldOffset(0, uuidOffset, 0);
  }
  static addItemId(builder, itemId) {
    builder.addFieldInt32(1, itemId, 0);
  }
  static addCount(builder, count) {
    builder.addFieldInt32(2, count, 0);
  }
  static addLevel(builder, level) {
    builder.addFieldInt16(3, level, 0);
  }
  static addFlags(builder, flags) {
    builder.addFieldInt8(4, flags, 0);
  }
  static addAcquiredAt(builder, acquiredAt) {
    builder.addFieldInt64(5, acquiredAt, BigInt("0"));
  }
  static endItem(builder) {
    const offset = builder.endObject();
    return offset;
  }
  static createItem(
    builder,
    uuidOffset,
    itemId,
    count,
    level,
    flags,
    acquiredAt,
  ) {
    _Item.startItem(builder);
    _Item.addUuid(builder, uuidOffset);
    _Item.addItemId(builder, itemId);
    _Item.addCount(builder, count);
    _Item.addLevel(builder, level);
    _Item.addFlags(builder, flags);
    _Item.addAcquiredAt(builder, acquiredAt);
    return _Item.endItem(builder);
  }
};

// flout/login/login.ts
import * as flatbuffers3 from "flatbuffers";

// flout/login/player.ts
import * as flatbuffers2 from "flatbuffers";
var Player = class _Player {
  bb = null;
  bb_pos = 0;
  __init(i, bb) {
    this.bb_pos = i;
    this.bb = bb;
    return this;
  }
  static getRootAsPlayer(bb, obj) {
    return (obj || new _Player()).__init(
      bb.readInt32(bb.position()) + bb.position(),
      bb,
    );
  }
  static getSizePrefixedRootAsPlayer(bb, obj) {
    bb.setPosition(bb.position() + flatbuffers2.SIZE_PREFIX_LENGTH);
    return (obj || new _Player()).__init(
      bb.readInt32(bb.position()) + bb.position(),
      bb,
    );
  }
  uuid(optionalEncoding) {
    const offset = this.bb.__offset(this.bb_pos, 4);
    return offset
      ? this.bb.__string(this.bb_pos + offset, optionalEncoding)
      : null;
  }
  name(optionalEncoding) {
    const offset = this.bb.__offset(this.bb_pos, 6);
    return offset
      ? this.bb.__string(this.bb_pos + offset, optionalEncoding)
      : null;
  }
  level() {
    const offset = this.bb.__offset(this.bb_pos, 8);
    return offset ? this.bb.readUint16(this.bb_pos + offset) : 0;
  }
  experience() {
    const offset = this.bb.__offset(this.bb_pos, 10);
    return offset ? this.bb.readUint64(this.bb_pos + offset) : BigInt("0");
  }
  coins() {
    const offset = this.bb.__offset(this.bb_pos, 12);
    return offset ? this.bb.readUint64(this.bb_pos + offset) : BigInt("0");
  }
  gems() {
    const offset = this.bb.__offset(this.bb_pos, 14);
    return offset ? this.bb.readUint32(this.bb_pos + offset) : 0;
  }
  stamina() {
    const offset = this.bb.__offset(this.bb_pos, 16);
    return offset ? this.bb.readUint16(this.bb_pos + offset) : 0;
  }
  lastLoginAt() {
    const offset = this.bb.__offset(this.bb_pos, 18);
    return offset ? this.bb.readInt64(this.bb_pos + offset) : BigInt("0");
  }
  static startPlayer(builder) {
    builder.startObject(8);
  }
  static addUuid(builder, uuidOffset) {
    builder.addFieldOffset(0, uuidOffset, 0);
  }
  static addName(builder, nameOffset) {
    builder.addFieldOffset(1, nameOffset, 0);
  }
  static addLevel(builder, level) {
    builder.addFieldInt16(2, level, 0);
  }
  static addExperience(builder, experience) {
    builder.addFieldInt64(3, experience, BigInt("0"));
  }
  static addCoins(builder, coins) {
    builder.addFieldInt64(4, coins, BigInt("0"));
  }
  static addGems(builder, gems) {
    builder.addFieldInt32(5, gems, 0);
  }
  static addStamina(builder, stamina) {
    builder.addFieldInt16(6, stamina, 0);
  }
  static addLastLoginAt(builder, lastLoginAt) {
    builder.addFieldInt64(7, lastLoginAt, BigInt("0"));
  }
  static endPlayer(builder) {
    const offset = builder.endObject();
    return offset;
  }
  static createPlayer(
    builder,
    uuidOffset,
    nameOffset,
    level,
    experience,
    coins,
    gems,
    stamina,
    lastLoginAt,
  ) {
    _Player.startPlayer(builder);
    _Player.addUuid(builder, uuidOffset);
    _Player.addName(builder, nameOffset);
    _Player.addLevel(builder, level);
    _Player.addExperience(builder, experience);
    _Player.addCoins(builder, coins);
    _Player.addGems(builder, gems);
    _Player.addStamina(builder, stamina);
    _Player.addLastLoginAt(builder, lastLoginAt);
    return _Player.endPlayer(builder);
  }
};

// flout/login/login.ts
var Login = class _Login {
  bb = null;
  bb_pos = 0;
  __init(i, bb) {
    this.bb_pos = i;
    this.bb = bb;
    return this;
  }
  static getRootAsLogin(bb, obj) {
    return (obj || new _Login()).__init(
      bb.readInt32(bb.position()) + bb.position(),
      bb,
    );
  }
  static getSizePrefixedRootAsLogin(bb, obj) {
    bb.setPosition(bb.position() + flatbuffers3.SIZE_PREFIX_LENGTH);
    return (obj || new _Login()).__init(
      bb.readInt32(bb.position()) + bb.position(),
      bb,
    );
  }
  player(obj) {
    const offset = this.bb.__offset(this.bb_pos, 4);
    return offset
      ? (obj || new Player()).__init(
          this.bb.__indirect(this.bb_pos + offset),
          this.bb,
        )
      : null;
  }
  items(index, obj) {
    const offset = this.bb.__offset(this.bb_pos, 6);
    return offset
      ? (obj || new Item()).__init(
          this.bb.__indirect(
            this.bb.__vector(this.bb_pos + offset) + index * 4,
          ),
          this.bb,
        )
      : null;
  }
  itemsLength() {
    const offset = this.bb.__offset(this.bb_pos, 6);
    return offset ? this.bb.__vector_len(this.bb_pos + offset) : 0;
  }
  static startLogin(builder) {
    builder.startObject(2);
  }
  static addPlayer(builder, playerOffset) {
    builder.addFieldOffset(0, playerOffset, 0);
  }
  static addItems(builder, itemsOffset) {
    builder.addFieldOffset(1, itemsOffset, 0);
  }
  static createItemsVector(builder, data) {
    builder.startVector(4, data.length, 4);
    for (let i = data.length - 1; i >= 0; i--) {
      builder.addOffset(data[i]);
    }
    return builder.endVector();
  }
  static startItemsVector(builder, numElems) {
    builder.startVector(4, numElems, 4);
  }
  static endLogin(builder) {
    const offset = builder.endObject();
    return offset;
  }
  static finishLoginBuffer(builder, offset) {
    builder.finish(offset);
  }
  static finishSizePrefixedLoginBuffer(builder, offset) {
    builder.finish(offset, void 0, true);
  }
  static createLogin(builder, playerOffset, itemsOffset) {
    _Login.startLogin(builder);
    _Login.addPlayer(builder, playerOffset);
    _Login.addItems(builder, itemsOffset);
    return _Login.endLogin(builder);
  }
};
export { Item, Login, Player };
