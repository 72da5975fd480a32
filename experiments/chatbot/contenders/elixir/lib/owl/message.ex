defmodule Owl.Message do
  @moduledoc "What somebody said in a room, and later what the robot says there."

  defstruct [:ref, :robot, :room, :text, :user, :type, matches: %{}, private: %{}]
end
