// Botkit's platform "HTTP": a request's body is a message, the response is its reply.
import { createServer } from "node:http";
import Botkit from "botkit";

const MESSAGE_CHARS_MAX = 4096;

export function httpBot(configuration) {
  const controller = Botkit.core(configuration);
  controller.defineBot(HttpBot);
  controller.middleware.spawn.use((bot, next) => {
    createServer((request, response) =>
      receive(controller, bot, request, response),
    ).listen({
      host: process.env.HOST,
      port: bot.config.port,
      // As many as Ranch lets wait; Node.js' own default is 511.
      backlog: 1024,
    });
    controller.startTicking();
    next();
  });
  return controller;
}

function receive(controller, bot, request, response) {
  let text = "";
  request.setEncoding("utf8");
  request.on("data", (chunk) => {
    if (text.length <= MESSAGE_CHARS_MAX) text += chunk;
  });
  request.on("end", () => {
    const message = { user: "user", channel: "http", text, response };
    controller.receiveMessage(bot, message);
  });
}

// What Botkit wants of the bot of any platform; it adds `say` itself, which ends in `send`.
class HttpBot {
  constructor(botkit, config) {
    this.botkit = botkit;
    this.config = config;
  }

  send(message, sent) {
    message.response.writeHead(message.status ?? 200, {
      "Content-Type": "text/plain",
      "Content-Length": Buffer.byteLength(message.text),
    });
    message.response.end(message.text);
    sent?.();
  }

  reply(source, answer, sent) {
    const message = typeof answer === "string" ? { text: answer } : answer;
    const { channel, response } = source;
    this.say({ ...message, channel, response }, sent);
  }

  findConversation(message, found) {
    for (const task of this.botkit.tasks) {
      for (const conversation of task.convos) {
        if (
          conversation.isActive() &&
          conversation.source_message.user === message.user
        ) {
          found(conversation);
          return;
        }
      }
    }
    found();
  }
}
