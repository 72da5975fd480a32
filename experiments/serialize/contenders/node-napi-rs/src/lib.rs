//! Login data as the client's C structs, from an object tree that napi-rs turns into these.

use napi::bindgen_prelude::{Buffer, Error, Result};
use napi_derive::napi;

#[napi(object)]
pub struct Login {
    pub player: Player,
    pub items: Vec<Item>,
}

#[napi(object)]
pub struct Player {
    pub uuid: String,
    pub name: String,
    pub level: u16,
    pub experience: i64,
    pub coins: i64,
    pub gems: u32,
    pub stamina: u16,
    pub last_login_at: i64,
}

#[napi(object)]
pub struct Item {
    pub uuid: String,
    pub item_id: u32,
    pub count: u32,
    pub level: u16,
    pub flags: u8,
    pub acquired_at: i64,
}

const PLAYER_BYTES: usize = 104;
const ITEM_BYTES: usize = 56;

#[napi]
pub fn encode(login: Login) -> Result<Buffer> {
    let mut bytes = Vec::with_capacity(PLAYER_BYTES + login.items.len() * ITEM_BYTES);
    put_player(&mut bytes, &login.player)?;
    for item in &login.items {
        put_item(&mut bytes, item)?;
    }
    Ok(bytes.into())
}

/// Those of the compiler and of napi-rs.
#[napi]
pub fn version() -> &'static str {
    env!("VERSIONS")
}

fn put_player(bytes: &mut Vec<u8>, player: &Player) -> Result<()> {
    put_text::<36>(bytes, &player.uuid)?;
    put_text::<32>(bytes, &player.name)?;
    bytes.extend(player.level.to_le_bytes());
    bytes.extend([0; 2]);
    bytes.extend(player.experience.to_le_bytes());
    bytes.extend(player.coins.to_le_bytes());
    bytes.extend(player.gems.to_le_bytes());
    bytes.extend(player.stamina.to_le_bytes());
    bytes.extend([0; 2]);
    bytes.extend(player.last_login_at.to_le_bytes());
    Ok(())
}

fn put_item(bytes: &mut Vec<u8>, item: &Item) -> Result<()> {
    put_text::<36>(bytes, &item.uuid)?;
    bytes.extend(item.item_id.to_le_bytes());
    bytes.extend(item.count.to_le_bytes());
    bytes.extend(item.level.to_le_bytes());
    bytes.push(item.flags);
    bytes.push(0);
    bytes.extend(item.acquired_at.to_le_bytes());
    Ok(())
}

fn put_text<const SIZE: usize>(bytes: &mut Vec<u8>, text: &str) -> Result<()> {
    let mut field = [0; SIZE];
    field
        .get_mut(..text.len())
        .ok_or_else(|| Error::from_reason(format!("{text:?} is longer than {SIZE} bytes")))?
        .copy_from_slice(text.as_bytes());
    bytes.extend(field);
    Ok(())
}
