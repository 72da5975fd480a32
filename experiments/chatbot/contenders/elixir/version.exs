# Loads what the bots are made of, and says in which versions.
:ok = Application.load(:pong)

libraries =
  for app <- [:cowboy, :cowlib, :ranch] do
    :ok = Application.load(app)
    "#{app} #{Application.spec(app, :vsn)}"
  end

{:module, _} = Code.ensure_loaded(Pong.Hedwig.Robot)
{:module, _} = Code.ensure_loaded(Pong.Cowboy)

["Elixir #{System.version()}", "Erlang/OTP #{System.otp_release()}" | libraries]
|> Enum.join(", ")
|> IO.puts()
