// Writes the golden format that README.md describes: named cases of named tensors, as text.
// The reader is tests/cpp/support/golden_file.hpp.

/** Shortest decimal that reads back as the same float32. */
function formatFloat32(value) {
  if (Number.isNaN(value)) throw new Error('NaN has no place in a golden file');
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  for (let digits = 1; digits < 9; ++digits) {
    const text = String(Number(value.toPrecision(digits)));
    if (Math.fround(Number(text)) === value) return text;
  }
  return String(Number(value.toPrecision(9)));
}

/**
 * @param {string} comment what the file is and which programs made it, one or more lines
 * @param {{name: string, tensors: Record<string, {dims: number[], data: ArrayLike<number>}>}[]} cases
 */
export function formatGolden(comment, cases) {
  const lines = comment.split('\n').map((line) => `# ${line}`);
  for (const { name, tensors } of cases) {
    lines.push('', `case ${name}`);
    for (const [tensorName, { dims, data }] of Object.entries(tensors)) {
      const size = dims.reduce((product, dim) => product * dim, 1);
      if (data.length !== size) {
        throw new Error(`${name}/${tensorName}: ${data.length} values, expected ${size} (${dims})`);
      }
      lines.push(['tensor', tensorName, ...dims].join(' '));
      const columns = dims.at(-1) ?? 1;
      for (let i = 0; i < size; i += columns) {
        lines.push(Array.from(data.slice(i, i + columns), formatFloat32).join(' '));
      }
    }
  }
  return lines.join('\n') + '\n';
}
