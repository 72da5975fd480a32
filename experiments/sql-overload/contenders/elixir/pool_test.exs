ExUnit.start()

# The test is the connection, and all the clients but one.
defmodule Service.PoolTest do
  use ExUnit.Case

  alias Service.Pool

  for {order, expected} <- [fair: ~w[a b c], unfair: ~w[c b a]] do
    test "who is next: #{order}" do
      start_pool(3, unquote(order))
      for sql <- ~w[a b c], do: ask(sql)
      assert Pool.query("d") == {:error, :no_connection}
      assert for(_ <- 1..3, do: turn()) == unquote(expected)
    end
  end

  test "patience" do
    start_pool(:infinity, :fair)
    {took_us, result} = :timer.tc(fn -> Pool.query("a") end)
    assert result == {:error, :no_connection}
    assert took_us >= 1_000_000
    ask("b")
    assert turn() == "b"
  end

  defp start_pool(waiting, order) do
    Application.put_env(:service, :waiting, waiting)
    Application.put_env(:service, :order, order)
    start_supervised!(Pool)
  end

  # As Pool.query does, but without waiting for the answer.
  defp ask(sql), do: :gen_server.send_request(Pool, {:query, sql})

  defp turn do
    Pool.idle(self())
    assert_receive {:"$gen_cast", {:query, sql, _from}}
    sql
  end
end
