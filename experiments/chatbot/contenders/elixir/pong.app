{application, pong, [
    {description, "Chat bots that answer ping with pong"},
    {vsn, "0.1.0"},
    {modules, [
        'Elixir.Owl',
        'Elixir.Owl.Adapter',
        'Elixir.Owl.Message',
        'Elixir.Owl.Responder',
        'Elixir.Owl.Robot',
        'Elixir.Pong.Application',
        'Elixir.Pong.Cowboy',
        'Elixir.Pong.Hedwig.Adapter',
        'Elixir.Pong.Hedwig.Ping',
        'Elixir.Pong.Hedwig.Robot',
        'Elixir.Pong.Http'
    ]},
    {registered, ['Elixir.Owl.RobotSupervisor']},
    {applications, [kernel, stdlib, elixir, logger, cowboy]},
    {mod, {'Elixir.Pong.Application', []}},
    {env, [
        {'Elixir.Pong.Hedwig.Robot', [
            {name, <<"pong">>},
            {adapter, 'Elixir.Pong.Hedwig.Adapter'},
            {responders, ['Elixir.Pong.Hedwig.Ping']}
        ]}
    ]}
]}.
