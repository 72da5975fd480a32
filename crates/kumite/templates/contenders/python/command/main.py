"""Parameters are in the environment, in capitals: os.environ["NUMBERS"]. What it prints is the answer."""

print("not written yet")
