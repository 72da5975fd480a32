// A chat bot that answers "ping" with "pong", heard by Botkit.
import { createRequire } from "node:module";
import { httpBot } from "./http-bot.js";

if (process.argv[2] === "--version") {
  const botkit = createRequire(import.meta.url)("botkit/package.json");
  console.log(`Node.js ${process.version}, botkit ${botkit.version}`);
} else {
  const controller = httpBot({ debug: false, stats_optout: true });

  controller.hears(["ping"], "message_received", (bot, message) => {
    bot.reply(message, "pong");
  });

  // What was heard above does not come here.
  controller.on("message_received", (bot, message) => {
    bot.reply(message, { status: 400, text: "Bad Request" });
  });

  controller.spawn({ port: process.env.PORT });
}
