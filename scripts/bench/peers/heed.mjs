// heed itself: one binary in the caller's thread, and a client of several workers.

const inputsOf = ({ heads, length, headDim }, data) => ({ ...data, shape: { heads, queryLen: length, headDim } });

/** `ceiling`: GFLOP/s that the binary's multiply-adds reach in registers. */
export function heedPeer(name, heed, ceiling) {
  return {
    name,
    ceiling,
    prepare(workload, data) {
      const inputs = inputsOf(workload, data);
      return [{ call: () => heed.attention(inputs, { causal: workload.causal }).context, memoryBytes: () => heed.memoryBytes() }];
    },
  };
}

export function heedClientPeer(name, client, ceiling) {
  return {
    name,
    ceiling,
    prepare(workload, data) {
      const inputs = inputsOf(workload, data);
      return [{ call: async () => (await client.attention(inputs, { causal: workload.causal })).context }];
    },
  };
}
