"""A GPT and an LSTM: each position of a sequence is classified."""

import ferrule.functional as F
import ferrule.module as M


class Block(M.Module):
    """Causal attention and a two-layer network, each added to its input."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.project_in, self.project_out = (
            M.LayerNorm(width),
            M.Linear(width, 3 * width),
            M.Linear(width, width),
        )
        self.norm2, self.widen, self.narrow = M.LayerNorm(width), M.Linear(width, 4 * width), M.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = F.reshape(self.project_in(self.norm1(x)), (batch, length, 3, self.heads, width // self.heads))
        query, key, value = F.transpose(parts, (2, 0, 3, 1, 4))  # [batch, heads, length, width / heads] each
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.project_out(F.reshape(F.transpose(attended, (0, 2, 1, 3)), (batch, length, width)))
        return x + self.narrow(F.gelu(self.widen(self.norm2(x))))


class Gpt(M.Module):
    """[N, length] int32 tokens -> [N * length, vocabulary] logits."""

    def __init__(self, vocabulary, length, width, heads, depth):
        super().__init__()
        self.vocabulary = vocabulary
        self.tokens, self.positions = M.Embedding(vocabulary, width), M.Embedding(length, width)
        self.blocks = M.Sequential(*[Block(width, heads) for _ in range(depth)])
        self.norm, self.head = M.LayerNorm(width), M.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.blocks(self.tokens(tokens) + self.positions.weight)
        return F.reshape(self.head(self.norm(x)), (-1, self.vocabulary))


class Lstm(M.Module):
    """[N, length, inputs] sequences -> [N * length, classes] logits."""

    def __init__(self, length, inputs, width, layers, classes):
        super().__init__()
        self.classes = classes
        self.recurrent = M.LSTM(inputs, width, layers, batch_first=True)
        self.head = M.Linear(width, classes)

    def forward(self, x):
        return F.reshape(self.head(self.recurrent(x)[0]), (-1, self.classes))
