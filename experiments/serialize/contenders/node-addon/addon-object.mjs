import { littleEndian } from "../../shared/struct.mjs";
import addon from "./addon.mjs";

export const format = "struct";

export const encode = addon.EncodeLogin;

export const { decode, sumCounts } = littleEndian;
