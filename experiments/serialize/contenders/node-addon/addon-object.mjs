import { littleEndian } from "../../shared/client.mjs";
import addon from "./addon.mjs";

export const format = "struct";

export const encode = addon.EncodeLogin;

export const { decode, inspect, sumCounts } = littleEndian;
