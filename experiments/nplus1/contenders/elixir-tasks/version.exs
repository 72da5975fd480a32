# Loads what the worker is made of, and says in which versions.
{:module, _} = Code.ensure_loaded(Nplus1)
{:module, _} = Code.ensure_loaded(KumiteKit)
:ok = Application.load(:jsx)

IO.puts(
  "Elixir #{System.version()}, Erlang/OTP #{System.otp_release()}, jsx #{Application.spec(:jsx, :vsn)}"
)
