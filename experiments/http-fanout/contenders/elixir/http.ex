defmodule Http do
  @moduledoc """
  GET of one address, over connections that are kept: HTTP/1.1 on `gen_tcp`, as far as a backend of our own needs it.

  Whoever asks sends and receives itself. A process holds the connections that nobody uses; without one a new one is
  opened, and there is no limit.
  """
  use GenServer

  @timeout_ms 30_000

  def start_link(url), do: GenServer.start_link(__MODULE__, URI.parse(url))

  @doc "The status and the body of the answer."
  def get(http) do
    {uri, socket} = GenServer.call(http, :take)
    socket = socket || connect(http, uri)

    :ok =
      :gen_tcp.send(socket, ["GET ", uri.path, " HTTP/1.1\r\nHost: ", uri.authority, "\r\n\r\n"])

    {{:http_response, _, status, _}, rest} = decode(socket, :http_bin, "")
    {length, rest} = content_length(socket, rest, 0)
    body = rest(socket, length, rest)
    GenServer.cast(http, {:give, socket})
    {status, body}
  end

  @impl true
  def init(uri), do: {:ok, {uri, []}}

  @impl true
  def handle_call(:take, _from, {uri, []}), do: {:reply, {uri, nil}, {uri, []}}
  def handle_call(:take, _from, {uri, [socket | idle]}), do: {:reply, {uri, socket}, {uri, idle}}

  @impl true
  def handle_cast({:give, socket}, {uri, idle}), do: {:noreply, {uri, [socket | idle]}}

  # A connection ends with its owner; so it is given to the process that lives on.
  defp connect(http, uri) do
    options = [:binary, active: false, nodelay: true]
    {:ok, socket} = :gen_tcp.connect(to_charlist(uri.host), uri.port, options, @timeout_ms)
    :ok = :gen_tcp.controlling_process(socket, http)
    socket
  end

  defp content_length(socket, bytes, length) do
    case decode(socket, :httph_bin, bytes) do
      {:http_eoh, rest} ->
        {length, rest}

      {{:http_header, _, :"Content-Length", _, value}, rest} ->
        content_length(socket, rest, String.to_integer(value))

      {{:http_header, _, _, _, _}, rest} ->
        content_length(socket, rest, length)
    end
  end

  defp decode(socket, type, bytes) do
    case :erlang.decode_packet(type, bytes, []) do
      {:ok, packet, rest} -> {packet, rest}
      {:more, _} -> decode(socket, type, bytes <> some(socket))
    end
  end

  defp rest(_socket, length, bytes) when byte_size(bytes) == length, do: bytes
  defp rest(socket, length, bytes), do: rest(socket, length, bytes <> some(socket))

  defp some(socket) do
    {:ok, bytes} = :gen_tcp.recv(socket, 0, @timeout_ms)
    bytes
  end
end
