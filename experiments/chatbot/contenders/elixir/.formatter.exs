[
  inputs: ["*.exs", "lib/**/*.ex"],
  locals_without_parens: [hear: 3]
]
