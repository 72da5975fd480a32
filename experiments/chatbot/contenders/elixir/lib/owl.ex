defmodule Owl do
  @moduledoc """
  The few parts of a chat bot framework that a message passes through, put together as Hedwig does:

      transport > adapter > robot > every responder > robot > adapter > transport

  Adapter, robot and responder are one process each.
  """

  @doc "The supervisor that an application starts before its robots."
  def robot_supervisor, do: {DynamicSupervisor, name: Owl.RobotSupervisor}

  @doc "Starts the robot that the module `robot` defines."
  def start_robot(robot), do: DynamicSupervisor.start_child(Owl.RobotSupervisor, robot)
end
