# Loads what the function is made of, and says in which versions.
for module <- [Fib, RuntimeApi], do: {:module, _} = Code.ensure_loaded(module)
:ok = Application.load(:jsx)

IO.puts(
  "Elixir #{System.version()}, Erlang/OTP #{System.otp_release()}, jsx #{Application.spec(:jsx, :vsn)}"
)
