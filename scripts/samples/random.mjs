// Seeded random numbers for the generated samples: splitmix32 (Steele, Lea & Flood 2014), and normal
// draws from pairs of uniforms by Box and Muller. The committed files are the reference; another
// platform's Math.log may differ in the last bit.

export function randomSource(seed) {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (((z ^ (z >>> 15)) >>> 0) + 0.5) / 2 ** 32;
  };
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  return { uniform, normal, integer: (bound) => Math.floor(uniform() * bound) };
}
