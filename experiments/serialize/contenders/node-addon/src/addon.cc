// Login data as C structs, by V8's own API (through nan): four ways to get it across the border.
#include <nan.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "layout.h"

namespace {

using v8::Array;
using v8::Context;
using v8::Isolate;
using v8::Local;
using v8::Object;
using v8::String;
using v8::Value;

// The property keys, made once.
Nan::Persistent<String> player_key, items_key, uuid_key, name_key, level_key, experience_key, coins_key, gems_key,
    stamina_key, last_login_at_key, item_id_key, count_key, flags_key, acquired_at_key;

void MakeKey(Nan::Persistent<String>& key, const char* name) {
  key.Reset(String::NewFromUtf8(Isolate::GetCurrent(), name, v8::NewStringType::kInternalized).ToLocalChecked());
}

template <typename T>
T Whole(Local<Value> value) {
  return static_cast<T>(value->IsNumber() ? value.As<v8::Number>()->Value() : Nan::To<double>(value).FromMaybe(0));
}

// One byte a character: for what is known to be ASCII.
template <size_t size>
void WriteAscii(char (&field)[size], Local<Value> value) {
  if (!value->IsString()) return;
  Local<String> text = value.As<String>();
  uint8_t* to = reinterpret_cast<uint8_t*>(field);
#if V8_MAJOR_VERSION > 13 || (V8_MAJOR_VERSION == 13 && V8_MINOR_VERSION >= 4)
  text->WriteOneByteV2(Isolate::GetCurrent(), 0, std::min<uint32_t>(size, text->Length()), to);
#else
  text->WriteOneByte(Isolate::GetCurrent(), to, 0, size, String::NO_NULL_TERMINATION);
#endif
}

template <size_t size>
void WriteUtf8(char (&field)[size], Local<Value> value) {
  Nan::DecodeWrite(field, size, value, Nan::UTF8);
}

// An object whose properties are read by the prepared keys.
class Reader {
 public:
  explicit Reader(Local<Value> value) : context_(Nan::GetCurrentContext()), object_(value.As<Object>()) {}

  Local<Value> operator[](const Nan::Persistent<String>& key) const {
    return object_->Get(context_, Nan::New(key)).ToLocalChecked();
  }

 private:
  Local<Context> context_;
  Local<Object> object_;
};

void WritePlayer(char* to, Local<Value> value) {
  Reader player(value);
  Player out;
  memset(&out, 0, sizeof out);
  WriteAscii(out.uuid, player[uuid_key]);
  WriteUtf8(out.name, player[name_key]);
  out.level = Whole<uint16_t>(player[level_key]);
  out.experience = Whole<uint64_t>(player[experience_key]);
  out.coins = Whole<uint64_t>(player[coins_key]);
  out.gems = Whole<uint32_t>(player[gems_key]);
  out.stamina = Whole<uint16_t>(player[stamina_key]);
  out.last_login_at = Whole<int64_t>(player[last_login_at_key]);
  memcpy(to, &out, sizeof out);
}

void WriteItem(char* to, Local<Value> value) {
  Reader item(value);
  Item out;
  memset(&out, 0, sizeof out);
  WriteAscii(out.uuid, item[uuid_key]);
  out.item_id = Whole<uint32_t>(item[item_id_key]);
  out.count = Whole<uint32_t>(item[count_key]);
  out.level = Whole<uint16_t>(item[level_key]);
  out.flags = Whole<uint8_t>(item[flags_key]);
  out.acquired_at = Whole<int64_t>(item[acquired_at_key]);
  memcpy(to, &out, sizeof out);
}

void WriteLogin(char* to, Local<Value> player, Local<Array> items) {
  Local<Context> context = Nan::GetCurrentContext();
  WritePlayer(to, player);
  to += sizeof(Player);
  for (uint32_t i = 0, count = items->Length(); i < count; i++, to += sizeof(Item)) {
    Nan::HandleScope scope;
    WriteItem(to, items->Get(context, i).ToLocalChecked());
  }
}

size_t LoginBytes(Local<Array> items) { return sizeof(Player) + items->Length() * sizeof(Item); }

// encodeLogin(login): the whole tree in one call.
NAN_METHOD(EncodeLogin) {
  Reader login(info[0]);
  Local<Array> items = login[items_key].As<Array>();
  Local<Object> buffer = Nan::NewBuffer(LoginBytes(items)).ToLocalChecked();
  WriteLogin(node::Buffer::Data(buffer), login[player_key], items);
  info.GetReturnValue().Set(buffer);
}

// encodeLoginInto(bytes, login): the same into the caller's Buffer; the bytes that were written.
NAN_METHOD(EncodeLoginInto) {
  Reader login(info[1]);
  Local<Array> items = login[items_key].As<Array>();
  size_t bytes = LoginBytes(items);
  if (node::Buffer::Length(info[0]) < bytes) return Nan::ThrowRangeError("the buffer is too small for this login");
  WriteLogin(node::Buffer::Data(info[0]), login[player_key], items);
  info.GetReturnValue().Set(static_cast<uint32_t>(bytes));
}

// encodePlayer(player), encodeItem(item): a Buffer each.
NAN_METHOD(EncodePlayer) {
  char bytes[sizeof(Player)];
  WritePlayer(bytes, info[0]);
  info.GetReturnValue().Set(Nan::CopyBuffer(bytes, sizeof bytes).ToLocalChecked());
}

NAN_METHOD(EncodeItem) {
  char bytes[sizeof(Item)];
  WriteItem(bytes, info[0]);
  info.GetReturnValue().Set(Nan::CopyBuffer(bytes, sizeof bytes).ToLocalChecked());
}

// begin(uuid, name, …), add(uuid, itemId, …), end(): only strings and numbers cross, and one Buffer at the end.
std::vector<char> pending;

template <typename Struct>
void Append(const Struct& out) {
  const char* bytes = reinterpret_cast<const char*>(&out);
  pending.insert(pending.end(), bytes, bytes + sizeof out);
}

NAN_METHOD(Begin) {
  pending.clear();
  Player out;
  memset(&out, 0, sizeof out);
  WriteAscii(out.uuid, info[0]);
  WriteUtf8(out.name, info[1]);
  out.level = Whole<uint16_t>(info[2]);
  out.experience = Whole<uint64_t>(info[3]);
  out.coins = Whole<uint64_t>(info[4]);
  out.gems = Whole<uint32_t>(info[5]);
  out.stamina = Whole<uint16_t>(info[6]);
  out.last_login_at = Whole<int64_t>(info[7]);
  Append(out);
}

NAN_METHOD(Add) {
  Item out;
  memset(&out, 0, sizeof out);
  WriteAscii(out.uuid, info[0]);
  out.item_id = Whole<uint32_t>(info[1]);
  out.count = Whole<uint32_t>(info[2]);
  out.level = Whole<uint16_t>(info[3]);
  out.flags = Whole<uint8_t>(info[4]);
  out.acquired_at = Whole<int64_t>(info[5]);
  Append(out);
}

NAN_METHOD(End) { info.GetReturnValue().Set(Nan::CopyBuffer(pending.data(), pending.size()).ToLocalChecked()); }

NAN_MODULE_INIT(Init) {
  MakeKey(player_key, "player");
  MakeKey(items_key, "items");
  MakeKey(uuid_key, "uuid");
  MakeKey(name_key, "name");
  MakeKey(level_key, "level");
  MakeKey(experience_key, "experience");
  MakeKey(coins_key, "coins");
  MakeKey(gems_key, "gems");
  MakeKey(stamina_key, "stamina");
  MakeKey(last_login_at_key, "lastLoginAt");
  MakeKey(item_id_key, "itemId");
  MakeKey(count_key, "count");
  MakeKey(flags_key, "flags");
  MakeKey(acquired_at_key, "acquiredAt");
  NAN_EXPORT(target, EncodeLogin);
  NAN_EXPORT(target, EncodeLoginInto);
  NAN_EXPORT(target, EncodePlayer);
  NAN_EXPORT(target, EncodeItem);
  NAN_EXPORT(target, Begin);
  NAN_EXPORT(target, Add);
  NAN_EXPORT(target, End);
}

NODE_MODULE(login, Init)

}  // namespace
