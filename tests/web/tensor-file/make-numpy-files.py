"""Makes numpy-files.json: files that NumPy wrote and the float32 values that NumPy reads from them.

    /usr/bin/python3 tests/web/tensor-file/make-numpy-files.py

Needs Debian 12's python3-numpy (1.24.2) and python3-torch (1.13.1, for bfloat16). The .safetensors
file is put together here after the format's description, apart from heed's own writer.
"""

import base64
import io
import json
import pathlib
import struct

import numpy
import torch

cases = []


def numbers(array):
    return [float(x) if numpy.isfinite(x) else str(x) for x in array.astype(numpy.float32).ravel(order="C")]


def add(title, content, arrays):
    cases.append({
        "title": title,
        "base64": base64.b64encode(content).decode(),
        "tensors": [{"name": name, "shape": list(shape), "values": values} for name, shape, values in arrays],
    })


def npy(array, **options):
    out = io.BytesIO()
    numpy.lib.format.write_array(out, array, **options)
    return out.getvalue()


def add_npy(title, array, **options):
    add(title, npy(array, **options), [("x", array.shape, numbers(array))])


for descr in "<f2 >f2 <f4 >f4 <f8 >f8".split():
    values = [0.1, -2.5, 60000.0, 1e-7, 0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, 1 / 3]
    add_npy(f"floats {descr}", numpy.array(values, dtype=descr).reshape(5, 2))
for descr in "|i1 <i2 >i2 <i4 >i4 <i8 >i8 |u1 <u2 >u2 <u4 >u4 <u8 >u8".split():
    limits = numpy.iinfo(descr)
    add_npy(f"integers {descr}", numpy.array([limits.min, limits.max, 0, 1, 100], dtype=descr))
add_npy("booleans", numpy.array([[True, False], [False, True]]))
ramp = numpy.arange(24, dtype="<f4").reshape(2, 3, 4)
add_npy("row-major order", ramp)
add_npy("Fortran order", numpy.asfortranarray(ramp))
add_npy("Fortran order, big-endian", numpy.asfortranarray(ramp.astype(">f8")))
add_npy("a transposed array", ramp.T)
add_npy("a slice with steps", ramp[:, ::2, ::-1])
add_npy("no axes", numpy.array(7, dtype="<f4"))
add_npy("no elements", numpy.zeros((3, 0, 2), dtype="<f4"))
add_npy("version 2", ramp, version=(2, 0))
add_npy("version 3", ramp, version=(3, 0))

for title, array in {
    "objects": numpy.array([{"a": 1}, None], dtype=object),
    "a structured dtype": numpy.zeros(2, dtype=[("a", "<f4"), ("b", "<i2", (2,))]),
    "a structured dtype, nested, with a name in UTF-8": numpy.zeros(2, dtype=[("\u03b1", [("b", "<f4")])]),
    "strings": numpy.array(["ab", "c"]),
    "byte strings": numpy.array([b"ab", b"c"]),
    "complex numbers": numpy.array([1 + 2j]),
    "dates": numpy.array(["2020-01-01"], dtype="datetime64[D]"),
}.items():
    add(title, npy(array, allow_pickle=True), [("x", array.shape, None)])

arrays = {"query": ramp, "nested/key": numpy.asfortranarray(ramp.astype(">f2")), "long": numpy.tile(ramp, (40, 1, 1))}
for title, save in {"savez": numpy.savez, "savez_compressed": numpy.savez_compressed}.items():
    out = io.BytesIO()
    save(out, **arrays)
    add(title, out.getvalue(), [(name, array.shape, numbers(array)) for name, array in arrays.items()])

bfloat = torch.tensor([0.1, -2.5, 3e38, 1e-40, float("inf"), float("nan")]).to(torch.bfloat16)
parts = {
    "bfloat": ("BF16", bfloat.shape, bfloat.view(torch.int16).numpy().tobytes(), bfloat.float().numpy()),
    "half": ("F16", (2, 1), numpy.array([0.1, 5.5], dtype="<f2").tobytes(), numpy.array([0.1, 5.5], dtype="<f2")),
    "double": ("F64", (2,), numpy.array([0.1, -1e-300]).tobytes(), numpy.array([0.1, -1e-300])),
}
header, data = {}, b""
for name, (dtype, shape, content, _) in parts.items():
    header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(content)]}
    data += content
text = json.dumps(header).encode()
add("a .safetensors file", struct.pack("<Q", len(text)) + text + data,
    [(name, shape, numbers(array)) for name, (_, shape, _, array) in parts.items()])

lines = ",\n".join(json.dumps(case) for case in cases)
pathlib.Path(__file__).with_name("numpy-files.json").write_text(f"[\n{lines}\n]\n")
