"""The JSON that is posted: the request in the protocol's words and with the profile's peculiarities."""

from collections.abc import Callable, Mapping
from typing import Any

from llm.normalise import normalised
from llm.profile import Profile
from llm.types import ChatRequest, Message, ToolSpec

Payload = dict[str, Any]

THINKING_SWITCHES: dict[str, Callable[[bool], Payload]] = {
    "enable_thinking": lambda on: {"enable_thinking": on},  # Qwen as its maker serves it
    "chat_template_kwargs": lambda on: {"chat_template_kwargs": {"enable_thinking": on}},  # vLLM, SGLang
    "thinking": lambda on: {"thinking": {"type": "enabled" if on else "disabled"}},  # GLM, Kimi, Doubao, DeepSeek
}


def payload(request: ChatRequest, profile: Profile) -> Payload:
    """The body of POST /chat/completions. It always streams, so that the deadlines hold for jobs too."""
    body: Payload = {
        "model": profile.model,
        "messages": [_message(message, profile) for message in normalised(request.messages)],
        "stream": True,
        "stream_options": {"include_usage": True},
        profile.output_limit_field: min(request.max_tokens or profile.max_output_tokens, profile.max_output_tokens),
    }
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.json_schema is not None:
        schema = {"name": "answer", "schema": dict(request.json_schema), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    body = _merged(body, profile.extra_body)
    if request.thinking is not None and profile.thinking_key:
        body = _merged(body, THINKING_SWITCHES[profile.thinking_key](request.thinking))
    return body


def _message(message: Message, profile: Profile) -> Payload:
    wire: Payload = {"role": message.role, "content": message.content}
    if message.tool_calls:
        wire["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.role == "tool":
        wire["tool_call_id"] = message.tool_call_id
    replay = profile.reasoning_replay
    if message.reasoning and (replay == "always" or (replay == "with_tools" and message.tool_calls)):
        wire["reasoning_content"] = message.reasoning
    return wire


def _tool(tool: ToolSpec) -> Payload:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _merged(body: Payload, extra: Mapping[str, Any]) -> Payload:
    """`body` with `extra` on top; objects under the same key are merged, one level deep."""
    merged = dict(body)
    for key, value in extra.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = {**merged[key], **value} if both else value
    return merged
