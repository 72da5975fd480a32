[
  inputs: ["*.exs", "lib/**/*.ex"]
]
