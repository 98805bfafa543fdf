"""All wire formats by name."""

from collections.abc import Mapping

from memrig.gateway.wire.anthropic import AnthropicMessages
from memrig.gateway.wire.base import ChatWire, Format, Wire
from memrig.gateway.wire.embeddings import OpenAIEmbeddings
from memrig.gateway.wire.openai import OpenAIChat

ANTHROPIC_MESSAGES: ChatWire = AnthropicMessages()
OPENAI_CHAT: ChatWire = OpenAIChat()
OPENAI_EMBEDDINGS: Wire = OpenAIEmbeddings()

WIRES: Mapping[Format, Wire] = {
    wire.format: wire for wire in (ANTHROPIC_MESSAGES, OPENAI_CHAT, OPENAI_EMBEDDINGS)
}
CHAT_WIRES: Mapping[str, ChatWire] = {
    wire.format: wire for wire in (ANTHROPIC_MESSAGES, OPENAI_CHAT)
}
