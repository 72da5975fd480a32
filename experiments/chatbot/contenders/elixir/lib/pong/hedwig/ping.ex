defmodule Pong.Hedwig.Ping do
  @moduledoc "Answers ping with pong."

  use Owl.Responder

  hear ~r/\Aping\z/, message do
    reply(message, "pong")
  end
end
