// The package's entry "heed/element": defines the elements. Importing it where there is no document, as
// in a server-side render, defines nothing and fails at nothing.

import { HeedAttention } from './heed-attention.ts';
import { HeedBuckets } from './heed-buckets.ts';
import { HeedCell } from './heed-cell.ts';
import { HeedLsh } from './heed-lsh.ts';

export { useClient } from './shared-client.ts';
export { HeedAttention, HeedBuckets, HeedCell, HeedLsh };

const elements = { 'heed-attention': HeedAttention, 'heed-lsh': HeedLsh, 'heed-buckets': HeedBuckets, 'heed-cell': HeedCell };

if (typeof document !== 'undefined') {
  for (const [name, element] of Object.entries(elements)) {
    // A second copy of the script finds them there.
    if (customElements.get(name) === undefined) customElements.define(name, element);
  }
}
