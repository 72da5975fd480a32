defmodule Service.Postgres do
  @moduledoc """
  What the service needs of PostgreSQL's protocol, version 3: to log in with a password (SCRAM-SHA-256 or MD5), and a
  simple query. A message is its type in a byte, its length in four (themselves included, the type not), and its body.
  """

  @protocol 3 * 0x10000
  @timeout_ms 15_000

  @doc "Opens a connection and logs in: `{:ok, socket}` or `{:error, reason}`."
  def connect(host, port, user, password, database) do
    options = [:binary, active: false, nodelay: true, send_timeout: @timeout_ms]

    with {:ok, socket} <- :gen_tcp.connect(String.to_charlist(host), port, options, @timeout_ms) do
      case log_in(socket, user, password, database) do
        :ok ->
          {:ok, socket}

        error ->
          :gen_tcp.close(socket)
          error
      end
    end
  end

  @doc "Makes a query and drops its rows: `:ok`, or `{:error, reason}`, after which the socket is of no use."
  def query(socket, sql) do
    with :ok <- send_message(socket, ?Q, [sql, 0]), do: until_ready(socket)
  end

  defp log_in(socket, user, password, database) do
    # The only message without a type.
    start = [<<@protocol::32>>, "user", 0, user, 0, "database", 0, database, 0, 0]

    with :ok <- :gen_tcp.send(socket, [<<IO.iodata_length(start) + 4::32>>, start]),
         {:ok, challenge} <- receive_challenge(socket),
         :ok <- authenticate(socket, challenge, user, password) do
      until_ready(socket)
    end
  end

  # Server's settings, its key for cancelling, notices, and what comes of a query are passed over.
  defp until_ready(socket) do
    case receive_message(socket) do
      {:ok, ?Z, _transaction} -> :ok
      {:ok, _type, _body} -> until_ready(socket)
      error -> error
    end
  end

  # Each kind of authentication ends with the message AuthenticationOk, which until_ready passes over.
  defp authenticate(socket, <<5::32, salt::binary-size(4)>>, user, password) do
    md5 = fn text -> Base.encode16(:crypto.hash(:md5, text), case: :lower) end
    send_message(socket, ?p, ["md5", md5.([md5.([password, user]), salt]), 0])
  end

  defp authenticate(socket, <<10::32, _mechanisms::binary>>, _user, password) do
    nonce = Base.encode64(:crypto.strong_rand_bytes(18))
    # Without a name: the server takes the one of the start.
    hello = "n=,r=" <> nonce
    first = ["n,,", hello]

    with :ok <-
           send_message(socket, ?p, ["SCRAM-SHA-256", 0, <<IO.iodata_length(first)::32>>, first]),
         {:ok, <<11::32, challenge::binary>>} <- receive_challenge(socket),
         {:ok, response, signature} <- scram(password, nonce, hello, challenge),
         :ok <- send_message(socket, ?p, response),
         {:ok, <<12::32, "v=", theirs::binary>>} <- receive_challenge(socket) do
      if theirs == signature, do: :ok, else: {:error, :server_does_not_know_the_password}
    else
      {:ok, _challenge} -> {:error, :unexpected_message}
      error -> error
    end
  end

  defp authenticate(_socket, <<0::32>>, _user, _password), do: :ok
  defp authenticate(_socket, _challenge, _user, _password), do: {:error, :unknown_authentication}

  # RFC 5802 and 7677, without channel binding.
  defp scram(password, nonce, hello, challenge) do
    with ["r=" <> both_nonces, "s=" <> salt, "i=" <> rounds] <- String.split(challenge, ","),
         true <- String.starts_with?(both_nonces, nonce) do
      {salt, rounds} = {Base.decode64!(salt), String.to_integer(rounds)}
      salted = :crypto.pbkdf2_hmac(:sha256, password, salt, rounds, 32)
      client_key = hmac(salted, "Client Key")
      final = "c=biws,r=" <> both_nonces
      conversation = Enum.join([hello, challenge, final], ",")
      proof = :crypto.exor(client_key, hmac(:crypto.hash(:sha256, client_key), conversation))
      signature = hmac(hmac(salted, "Server Key"), conversation)
      {:ok, [final, ",p=", Base.encode64(proof)], Base.encode64(signature)}
    else
      _ -> {:error, :malformed_challenge}
    end
  end

  defp hmac(key, text), do: :crypto.mac(:hmac, :sha256, key, text)

  defp send_message(socket, type, body) do
    :gen_tcp.send(socket, [type, <<IO.iodata_length(body) + 4::32>>, body])
  end

  defp receive_challenge(socket) do
    case receive_message(socket) do
      {:ok, ?R, challenge} -> {:ok, challenge}
      {:ok, _type, _body} -> {:error, :unexpected_message}
      error -> error
    end
  end

  # An ErrorResponse is an error wherever it comes.
  defp receive_message(socket) do
    with {:ok, <<type, length::32>>} <- :gen_tcp.recv(socket, 5, @timeout_ms),
         {:ok, body} <- receive_body(socket, length - 4) do
      if type == ?E, do: {:error, error_text(body)}, else: {:ok, type, body}
    end
  end

  # For gen_tcp, a length of 0 would mean whatever is there.
  defp receive_body(_socket, 0), do: {:ok, ""}
  defp receive_body(socket, length), do: :gen_tcp.recv(socket, length, @timeout_ms)

  # Of its fields, each a letter and a text, that which is for people.
  defp error_text(fields) do
    List.first(for "M" <> text <- String.split(fields, <<0>>), do: text)
  end
end
