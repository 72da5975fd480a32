defmodule Service.Application do
  @moduledoc false

  use Application

  @connections 4

  @impl true
  def start(_type, _arguments) do
    # There is nothing to save: end at once, where OTP's orderly stop takes a second and more.
    :ok = :os.set_signal(:sigterm, :default)

    connections =
      for n <- 1..@connections,
          do: Supervisor.child_spec(Service.Connection, id: {:connection, n})

    # Connections tell the pool when they are there, so they start after it, and anew with it.
    with {:ok, supervisor} <-
           Supervisor.start_link([Service.Pool | connections], strategy: :rest_for_one),
         {:ok, _listener} <- Service.Http.listen() do
      {:ok, supervisor}
    end
  end
end
