# Loads what the service is made of, and says in which versions.
:ok = Application.load(:service)

libraries =
  for app <- [:cowboy, :cowlib, :ranch] do
    :ok = Application.load(app)
    "#{app} #{Application.spec(app, :vsn)}"
  end

{:module, _} = Code.ensure_loaded(Service.Http)

["Elixir #{System.version()}", "Erlang/OTP #{System.otp_release()}" | libraries]
|> Enum.join(", ")
|> IO.puts()
