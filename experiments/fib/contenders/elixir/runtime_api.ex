defmodule RuntimeApi do
  @moduledoc """
  A client of the Lambda Runtime API: HTTP/1.1 on `gen_tcp`, as far as a function of our own needs it.
  """

  @invocation "/2018-06-01/runtime/invocation/"

  @doc "Answers one call after another, for good. An exception is the answer to its call."
  def serve(authority, handle) do
    [host, port] = String.split(authority, ":")
    options = [:binary, active: false, nodelay: true]
    {:ok, socket} = :gen_tcp.connect(to_charlist(host), String.to_integer(port), options)
    answer_calls({socket, authority}, handle)
  end

  # Without a limit of time: the next call may be hours away.
  defp answer_calls(api, handle) do
    {200, %{request_id: request_id}, event} = request(api, "GET", "next", "")

    {what, answer} =
      try do
        {"response", handle.(:jsx.decode(event, [:return_maps]))}
      rescue
        error ->
          message = Exception.message(error)
          {"error", %{errorType: inspect(error.__struct__), errorMessage: message}}
      end

    {202, _, _} = request(api, "POST", "#{request_id}/#{what}", :jsx.encode(answer))
    answer_calls(api, handle)
  end

  defp request({socket, authority}, method, path, body) do
    head = "#{method} #{@invocation}#{path} HTTP/1.1\r\nHost: #{authority}\r\n"
    :ok = :gen_tcp.send(socket, [head, "Content-Length: #{byte_size(body)}\r\n\r\n", body])
    {{:http_response, _, status, _}, rest} = decode(socket, :http_bin, "")
    {headers, rest} = headers(socket, rest, %{length: 0})
    {status, headers, body(socket, headers.length, rest)}
  end

  defp headers(socket, bytes, headers) do
    case decode(socket, :httph_bin, bytes) do
      {:http_eoh, rest} ->
        {headers, rest}

      {{:http_header, _, name, _, value}, rest} ->
        headers(socket, rest, add(headers, name, value))
    end
  end

  defp add(headers, :"Content-Length", value), do: %{headers | length: String.to_integer(value)}

  # Of a name that it does not know, `decode_packet` writes each part with a capital.
  defp add(headers, "Lambda-Runtime-Aws-Request-Id", value),
    do: Map.put(headers, :request_id, value)

  defp add(headers, _name, _value), do: headers

  defp decode(socket, type, bytes) do
    case :erlang.decode_packet(type, bytes, []) do
      {:ok, packet, rest} -> {packet, rest}
      {:more, _} -> decode(socket, type, bytes <> some(socket))
    end
  end

  defp body(_socket, length, bytes) when byte_size(bytes) == length, do: bytes
  defp body(socket, length, bytes), do: body(socket, length, bytes <> some(socket))

  defp some(socket) do
    {:ok, bytes} = :gen_tcp.recv(socket, 0)
    bytes
  end
end
