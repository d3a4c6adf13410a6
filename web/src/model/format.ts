// Numbers as the page shows them.

const integer = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const significant = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 });

export function formatCount(value: number): string {
  return integer.format(value);
}

/** A share of 1 as per cent: one decimal, three near 0 and 100; what rounds to 0 or 100 without being it says so. */
export function formatShare(value: number): string {
  if (!Number.isFinite(value)) return formatNumber(value);
  const percent = value * 100;
  if (percent === 0 || percent === 100) return `${percent} %`;
  if (Math.abs(percent) < 0.001) return '< 0.001 %';
  if (percent < 100 && percent > 99.999) return '> 99.999 %';
  return `${percent.toFixed(percent < 0.1 || (percent > 99.9 && percent < 100) ? 3 : 1)} %`;
}

/** Four significant digits; powers of ten for what is tiny or huge. */
export function formatNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '∞';
  if (value === Number.NEGATIVE_INFINITY) return '−∞';
  if (value === 0) return '0';
  const size = Math.abs(value);
  const text = size < 1e-4 || size >= 1e6 ? value.toExponential(3) : significant.format(value);
  return text.replaceAll('-', '−');
}

/** All digits a float32 carries. */
export function formatWeight(value: number): string {
  if (value === 0) return '0';
  return (Math.abs(value) < 1e-4 ? value.toExponential(5) : value.toFixed(7)).replaceAll('-', '−');
}

export function formatMilliseconds(value: number): string {
  if (value >= 1000) return `${(value / 1000).toFixed(2)} s`;
  return `${value.toFixed(value < 10 ? 2 : 1)} ms`;
}

export function formatShape(shape: readonly number[]): string {
  return `[${shape.join(', ')}]`;
}
