# Loads what the worker is made of, and says in which versions.
for module <- [Fanout, Http, KumiteKit], do: {:module, _} = Code.ensure_loaded(module)
:ok = Application.load(:jsx)

IO.puts(
  "Elixir #{System.version()}, Erlang/OTP #{System.otp_release()}, jsx #{Application.spec(:jsx, :vsn)}"
)
