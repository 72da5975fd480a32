{application, service, [
    {description, "A web service over a pool of PostgreSQL connections"},
    {vsn, "0.1.0"},
    {modules, [
        'Elixir.Service.Application',
        'Elixir.Service.Connection',
        'Elixir.Service.Http',
        'Elixir.Service.Pool',
        'Elixir.Service.Postgres'
    ]},
    {registered, ['Elixir.Service.Pool']},
    {applications, [kernel, stdlib, elixir, logger, crypto, cowboy]},
    {env, [{waiting, infinity}, {order, fair}]},
    {mod, {'Elixir.Service.Application', []}}
]}.
