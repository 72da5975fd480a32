defmodule Pong.Application do
  @moduledoc false

  use Application

  @impl true
  def start(_type, _arguments) do
    # There is nothing to save: end at once, where OTP's orderly stop takes a second and more.
    :ok = :os.set_signal(:sigterm, :default)
    start_bot(Application.fetch_env!(:pong, :bot))
  end

  defp start_bot(:hedwig) do
    with {:ok, supervisor} <-
           Supervisor.start_link([Owl.robot_supervisor()], strategy: :one_for_one),
         {:ok, _robot} <- Owl.start_robot(Pong.Hedwig.Robot) do
      {:ok, supervisor}
    end
  end

  defp start_bot(:cowboy) do
    # Cowboy has its own supervisors; there is nothing beside it.
    with :ok <- Pong.Http.listen(&Pong.Cowboy.answer/1) do
      Supervisor.start_link([], strategy: :one_for_one)
    end
  end
end
