"""What the model of an llm node may call: one file for each tool, and the rounds in which they are called."""

# The llm node needs what stands here, and this needs the contract of nodes: that comes first, whoever asks.
import flows.nodes  # noqa: F401
