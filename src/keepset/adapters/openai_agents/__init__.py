"""Sessions of the OpenAI Agents SDK as runs: read as the JSON that they are, without the SDK."""
