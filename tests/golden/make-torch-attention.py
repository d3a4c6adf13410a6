"""Makes torch-multi-head.txt and torch-gradients.txt with PyTorch, in double precision.

    /usr/bin/python3 tests/golden/make-torch-attention.py

Needs Debian 12's python3-torch. Results are rounded to float32 when written; inputs are steps of
1/32, exact in float32. PyTorch's masks hide where they are True; here they are written the other
way round, 1 shows a key, as heed reads them.
"""

import math
import pathlib

import numpy
import torch

FOLDER = pathlib.Path(__file__).parent
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def steps(generator, *dims, largest=64):
    """Uniform multiples of 1/32 in [-largest / 32, largest / 32)."""
    return torch.randint(-largest, largest, dims, generator=generator).double() / 32


def format_number(value):
    text = str(numpy.float32(value))
    return text[:-2] if text.endswith(".0") else text


def write(path, what, cases):
    lines = [
        f"# {what}, by PyTorch {torch.__version__} (CPU, float64).",
        "# Made by tests/golden/make-torch-attention.py; see README.md.",
    ]
    for name, tensors in cases:
        lines += ["", f"case {name}"]
        for tensor_name, tensor in tensors.items():
            data = torch.as_tensor(tensor).detach()
            lines.append(" ".join(["tensor", tensor_name, *map(str, data.shape)]))
            for row in data.reshape(-1, data.shape[-1] if data.dim() else 1).tolist():
                lines.append(" ".join(map(format_number, row)))
    path.write_text("\n".join(lines) + "\n")


def multi_head_case(
    name,
    seed,
    *,
    batch=1,
    query_len=5,
    key_len=5,
    model_dim=12,
    heads=3,
    bias=True,
    kdim=None,
    vdim=None,
    memory="self",  # "self": keys and values from the queries; "shared": from one other source
    padding=None,  # [batch, key_len], True hides
    attn_mask=None,  # as PyTorch takes it
):
    generator = torch.Generator().manual_seed(seed)
    layer = torch.nn.MultiheadAttention(
        model_dim, heads, bias=bias, kdim=kdim, vdim=vdim, batch_first=True
    )
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(steps(generator, *parameter.shape, largest=16))

    query = steps(generator, batch, query_len, model_dim)
    if memory == "self":
        key = value = query
    else:
        key = steps(generator, batch, key_len, kdim or model_dim)
        value = key if memory == "shared" else steps(generator, batch, key_len, vdim or model_dim)
    output, weights = layer(
        query,
        key,
        value,
        key_padding_mask=padding,
        attn_mask=attn_mask,
        need_weights=True,
        average_attn_weights=False,
    )

    if layer.in_proj_weight is not None:
        projections = layer.in_proj_weight.chunk(3)
    else:
        projections = (layer.q_proj_weight, layer.k_proj_weight, layer.v_proj_weight)
    tensors = {"heads": heads, "query_source": query}
    if memory != "self":
        tensors["key_source"] = key
    if memory == "separate":
        tensors["value_source"] = value
    for role, weight in zip(("query", "key", "value"), projections):
        tensors[f"{role}_weight"] = weight
    tensors["output_weight"] = layer.out_proj.weight
    if bias:
        for role, vector in zip(("query", "key", "value"), layer.in_proj_bias.chunk(3)):
            tensors[f"{role}_bias"] = vector
        tensors["output_bias"] = layer.out_proj.bias
    if padding is not None:
        tensors["key_mask"] = (~padding).double()
    if attn_mask is not None:
        # [query_len, key_len] or [batch * heads, query_len, key_len]
        leading = (1, 1) if attn_mask.dim() == 2 else (batch, heads)
        full = attn_mask.reshape(*leading, *attn_mask.shape[-2:])
        if attn_mask.dtype == torch.bool:
            tensors["mask"] = (~full).double()
        else:
            tensors["bias"] = full
    tensors |= {"weights": weights, "output": output}
    return name, tensors


def multi_head_cases():
    def hidden(*dims):
        """A boolean mask that leaves every query its own position and key 0."""
        index = torch.arange(math.prod(dims)).reshape(dims)
        mask = (index * 5 + index // dims[-1]) % 7 < 2
        diagonal = torch.eye(dims[-2], dims[-1], dtype=torch.bool)
        return mask & ~diagonal & (torch.arange(dims[-1]) > 0)

    padding = torch.tensor([[False] * 5, [False, False, False, True, True]])
    future = torch.ones(4, 7, dtype=torch.bool).triu(4)  # the last query sees the last key
    slope = (torch.arange(5)[None, :] - torch.arange(5)[:, None]) / 4
    padded_memory = torch.tensor([[True, False, False, False, False, False, False],
                                  [False, False, True, False, False, True, False]])
    return [
        multi_head_case("self", 1, batch=2),
        multi_head_case("self-without-bias", 2, bias=False),
        multi_head_case("one-head", 3, heads=1, model_dim=8),
        multi_head_case("cross", 4, memory="shared", key_len=8, kdim=10, vdim=10),
        multi_head_case("cross-separate", 5, memory="separate", key_len=6, kdim=7, vdim=9),
        multi_head_case("cross-separate-without-bias", 6, memory="separate", key_len=4, kdim=5,
                        vdim=8, bias=False),
        multi_head_case("key-padding", 7, batch=2, padding=padding),
        multi_head_case("attention-mask", 8, attn_mask=hidden(5, 5)),
        multi_head_case("attention-mask-per-head", 9, batch=2, attn_mask=hidden(6, 5, 5)),
        multi_head_case("additive-mask", 10, attn_mask=slope),
        multi_head_case("cross-causal-padding", 11, batch=2, memory="shared", query_len=4,
                        key_len=7, kdim=6, vdim=6, padding=padded_memory, attn_mask=future),
    ]


def gradient_case(name, seed, *, batch=1, heads=2, query_len=4, key_len=6, head_dim=3,
                  value_dim=5, scale=None, visible=None, bias=None):
    """Gradients of sum(upstream * softmax(scale q k^T + bias) v), masked where not visible."""
    generator = torch.Generator().manual_seed(seed)
    query = steps(generator, batch, heads, query_len, head_dim).requires_grad_()
    key = steps(generator, batch, heads, key_len, head_dim).requires_grad_()
    value = steps(generator, batch, heads, key_len, value_dim).requires_grad_()
    upstream = steps(generator, batch, heads, query_len, value_dim)
    logits = query @ key.transpose(-1, -2) * (scale or head_dim**-0.5)
    if bias is not None:
        logits = logits + bias
    if visible is not None:
        logits = logits.masked_fill(~visible, -math.inf)
    context = logits.softmax(-1) @ value
    (context * upstream).sum().backward()
    tensors = {"query": query, "key": key, "value": value}
    if scale is not None:
        tensors["scale"] = scale
    if visible is not None:
        tensors["mask"] = visible.double()[None, None]
    if bias is not None:
        tensors["bias"] = bias[None, None]
    tensors |= {"context": context, "upstream": upstream, "query_gradient": query.grad,
                "key_gradient": key.grad, "value_gradient": value.grad}
    return name, tensors


def gradient_cases():
    slope = (torch.arange(6)[None, :] - torch.arange(4)[:, None]) / 8
    return [
        gradient_case("plain", 1, batch=2),
        gradient_case("scale", 2, scale=0.25),
        gradient_case("causal", 3, visible=torch.ones(4, 6, dtype=torch.bool).tril(2)),
        gradient_case("additive-mask", 4, bias=slope),
        gradient_case("one-key", 5, key_len=1),
        gradient_case("long-rows", 6, heads=1, query_len=2, key_len=37, head_dim=9, value_dim=3),
    ]


write(FOLDER / "torch-multi-head.txt", "nn.MultiheadAttention, weights per head",
      multi_head_cases())
write(FOLDER / "torch-gradients.txt", "Gradients of scaled dot-product attention by autograd",
      gradient_cases())
