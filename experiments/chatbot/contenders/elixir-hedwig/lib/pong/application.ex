defmodule Pong.Application do
  @moduledoc false

  use Application

  @impl true
  def start(_type, _arguments) do
    with {:ok, supervisor} <-
           Supervisor.start_link([Owl.robot_supervisor()], strategy: :one_for_one),
         {:ok, _robot} <- Owl.start_robot(Pong.Robot) do
      {:ok, supervisor}
    end
  end
end
