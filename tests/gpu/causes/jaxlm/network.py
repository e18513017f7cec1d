"""A small causal transformer as pure functions."""
import jax
import jax.numpy as jnp


def init(key, vocabulary, width, layers, longest):
    keys = iter(jax.random.split(key, 4 * layers + 3))

    def dense(rows, columns):
        return jax.random.normal(next(keys), (rows, columns), jnp.float32) * rows ** -0.5

    return {
        "words": dense(vocabulary, width), "places": dense(longest, width),
        "blocks": [{"qkv": dense(width, 3 * width), "out": dense(width, width), "up": dense(width, 4 * width),
                    "down": dense(4 * width, width), "scale1": jnp.ones(width), "scale2": jnp.ones(width)}
                   for _ in range(layers)],
    }


def norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


def attend(x, qkv, out, heads):
    batch, length, width = x.shape
    q, k, v = jnp.split(x @ qkv, 3, -1)
    q, k, v = (part.reshape(batch, length, heads, width // heads) for part in (q, k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (width // heads) ** -0.5
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, -1), v)
    return mixed.reshape(batch, length, width) @ out


def forward(parameters, ids, heads):
    x = parameters["words"][ids] + parameters["places"][:ids.shape[1]]
    for block in parameters["blocks"]:
        x = x + attend(norm(x, block["scale1"]), block["qkv"], block["out"], heads)
        x = x + jax.nn.gelu(norm(x, block["scale2"]) @ block["up"]) @ block["down"]
    return x @ parameters["words"].T


def loss(parameters, ids, heads):
    logits = forward(parameters, ids[:, :-1], heads)
    target = ids[:, 1:]
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), target[..., None], -1)[..., 0]
    mask = target > 0
    return -(chosen * mask).sum() / mask.sum()
