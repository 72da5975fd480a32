defmodule Pong.Application do
  @moduledoc false

  use Application

  @impl true
  def start(_type, _arguments) do
    # There is nothing to save: end at once, where OTP's orderly stop takes a second and more.
    :ok = :os.set_signal(:sigterm, :default)

    with {:ok, supervisor} <-
           Supervisor.start_link([Owl.robot_supervisor()], strategy: :one_for_one),
         {:ok, _robot} <- Owl.start_robot(Pong.Robot) do
      {:ok, supervisor}
    end
  end
end
