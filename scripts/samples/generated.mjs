// Samples with a named structure, drawn from a seed: where LSH attention works and where it fails.
import { randomSource } from './random.mjs';

const normals = (random, count, scale = 1) => Float32Array.from({ length: count }, () => scale * random.normal());

/** Vectors around random centres: query and key of a cluster point the same way. */
function clustered(seed) {
  const [heads, length, dim, clusters, spread] = [2, 512, 32, 16, 0.35];
  const random = randomSource(seed);
  const query = new Float32Array(heads * length * dim), key = new Float32Array(query.length);
  const tokens = Array.from({ length }, () => random.integer(clusters));
  for (let h = 0; h < heads; h++) {
    const centres = normals(random, clusters * dim);
    for (let i = 0; i < length; i++) {
      for (let t = 0; t < dim; t++) {
        const centre = centres[tokens[i] * dim + t], at = (h * length + i) * dim + t;
        query[at] = 1.4 * (centre + spread * random.normal());
        key[at] = 1.4 * (centre + spread * random.normal());
      }
    }
  }
  return { heads, length, dim, query, key, value: normals(random, query.length), tokens: tokens.map((c) => `c${c}`) };
}

/** No structure at all: every key is about as near to a query as any other. */
function gaussian(seed) {
  const [heads, length, dim] = [2, 512, 32];
  const random = randomSource(seed);
  const size = heads * length * dim;
  return { heads, length, dim, query: normals(random, size), key: normals(random, size), value: normals(random, size), tokens: Array.from({ length }, (_, i) => `${i}`) };
}

/** One key in a haystack answers each query of a few marked positions. */
function needle(seed) {
  const [heads, length, dim, needles] = [1, 512, 32, 8];
  const random = randomSource(seed);
  const size = heads * length * dim;
  const query = normals(random, size, 0.5), key = normals(random, size, 0.5);
  const tokens = Array.from({ length }, () => '·');
  for (let n = 0; n < needles; n++) {
    const ask = 60 + n * 56, found = random.integer(length);
    tokens[ask] = `ask ${n}`;
    tokens[found] = `needle ${n}`;
    const direction = normals(random, dim, 2);
    query.set(direction, ask * dim);
    key.set(direction, found * dim);
  }
  return { heads, length, dim, query, key, value: normals(random, size), tokens };
}

/** Sinusoidal positional encodings as queries and keys (Vaswani et al. 2017, section 3.5). */
function positions() {
  const [heads, length, dim] = [1, 256, 64];
  const encoding = Float32Array.from({ length: length * dim }, (_, n) => {
    const position = Math.floor(n / dim), t = n % dim;
    const angle = position / 10000 ** ((t - (t % 2)) / dim);
    // Scaled so that the nearest positions get most of the weight.
    return 1.6 * (t % 2 === 0 ? Math.sin(angle) : Math.cos(angle));
  });
  return { heads, length, dim, query: encoding, key: encoding, value: encoding, tokens: Array.from({ length }, (_, i) => `${i}`) };
}

export const generatedSamples = [
  {
    id: 'clustered', title: 'Clustered vectors', seed: 11, make: clustered,
    description: 'Random, not trained: 16 clusters, queries and keys of a cluster point the same way. LSH attention finds most of the weight here; raise the rounds and watch the captured mass.',
  },
  {
    id: 'gaussian', title: 'Gaussian noise', seed: 12, make: gaussian,
    description: 'Random, not trained, without any structure. Hashing cannot tell near keys from far ones, so LSH attention loses much of the weight: an honest failure.',
  },
  {
    id: 'needle', title: 'Needles in a haystack', seed: 13, make: needle,
    description: 'Random, not trained: eight queries ("ask") each have one key ("needle") that matches strongly. Look whether LSH attention still finds them.',
  },
  {
    id: 'positions', title: 'Sinusoidal positions', seed: 0, make: positions,
    description: 'Computed, not trained: sinusoidal positional encodings as queries and keys. The bands are what position alone adds to attention.',
  },
];
