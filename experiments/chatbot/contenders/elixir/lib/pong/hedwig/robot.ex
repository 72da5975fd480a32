defmodule Pong.Hedwig.Robot do
  @moduledoc "The bot; pong.app has its adapter and responders."

  use Owl.Robot, otp_app: :pong
end
