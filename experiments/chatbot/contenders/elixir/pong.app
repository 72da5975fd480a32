{application, pong, [
    {description, "A chat bot that answers ping with pong"},
    {vsn, "0.1.0"},
    {modules, [
        'Elixir.Owl',
        'Elixir.Owl.Adapter',
        'Elixir.Owl.Message',
        'Elixir.Owl.Responder',
        'Elixir.Owl.Robot',
        'Elixir.Pong.Application',
        'Elixir.Pong.Http',
        'Elixir.Pong.Http.Handler',
        'Elixir.Pong.Ping',
        'Elixir.Pong.Robot'
    ]},
    {registered, ['Elixir.Owl.RobotSupervisor']},
    {applications, [kernel, stdlib, elixir, logger, cowboy]},
    {mod, {'Elixir.Pong.Application', []}},
    {env, [
        {'Elixir.Pong.Robot', [
            {name, <<"pong">>},
            {adapter, 'Elixir.Pong.Http'},
            {responders, ['Elixir.Pong.Ping']}
        ]}
    ]}
]}.
