defmodule Pong.Cowboy do
  @moduledoc "The bot without a framework: answers ping with pong in the request's own process."

  def answer("ping"), do: {200, "pong"}
  def answer(_message), do: {400, "Bad Request"}
end
