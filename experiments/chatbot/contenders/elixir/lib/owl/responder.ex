defmodule Owl.Responder do
  @moduledoc """
  A process that answers to messages which match one of its patterns.

      defmodule Greeter do
        use Owl.Responder

        hear ~r/^hello (?<name>.+)$/, message do
          reply message, "hello yourself, " <> message.matches["name"]
        end
      end
  """

  use GenServer, restart: :transient

  defmacro __using__(_options) do
    quote do
      import Owl.Responder, only: [hear: 3, reply: 2]
      Module.register_attribute(__MODULE__, :patterns, accumulate: true)
      @before_compile Owl.Responder
    end
  end

  @doc "Runs the block for each message whose text matches; `message.matches` has the captures."
  defmacro hear(pattern, message, do: block) do
    handler = :"hear #{Macro.to_string(pattern)}"

    quote do
      @patterns {unquote(Macro.escape(pattern)), unquote(handler)}
      def unquote(handler)(unquote(message)), do: unquote(block)
    end
  end

  defmacro __before_compile__(env) do
    patterns = env.module |> Module.get_attribute(:patterns) |> Enum.reverse()

    quote do
      def patterns, do: unquote(patterns)
    end
  end

  @doc "Answers the message with a text."
  def reply(message, text), do: Owl.Robot.reply(message.robot, %{message | text: text})

  @doc "Shows the responder a message."
  def dispatch(responder, message), do: GenServer.cast(responder, {:dispatch, message})

  def start_link(module), do: GenServer.start_link(__MODULE__, module)

  @impl true
  def init(module) do
    GenServer.cast(self(), :compile_patterns)
    {:ok, %{module: module, patterns: []}}
  end

  @impl true
  def handle_cast({:dispatch, message}, %{module: module, patterns: patterns} = state) do
    for {regex, handler} <- patterns, Regex.match?(regex, message.text) do
      apply(module, handler, [%{message | matches: captures(regex, message.text)}])
    end

    {:noreply, state}
  end

  def handle_cast(:compile_patterns, %{module: module} = state) do
    patterns = for {regex, handler} <- module.patterns(), do: {Regex.recompile!(regex), handler}

    {:noreply, %{state | patterns: patterns}}
  end

  defp captures(regex, text) do
    case Regex.names(regex) do
      [] -> for {match, i} <- Enum.with_index(Regex.run(regex, text)), into: %{}, do: {i, match}
      _ -> Regex.named_captures(regex, text)
    end
  end
end
