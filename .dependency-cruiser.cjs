// The layers of web/src and who may see whom; `npm run check` fails when one looks up.
const layers = {
  core: [],
  protocol: ['core', 'worker'], // types of the worker's handlers only
  worker: ['core', 'protocol'],
  client: ['core', 'protocol', 'worker'],
  model: ['core'], // types only
  marks: ['core', 'model'],
  'tensor-file': [],
  text: ['core'],
  inline: ['core', 'client'],
  embed: ['inline', 'element'],
  explore: ['core', 'client', 'model', 'marks', 'tensor-file', 'text'],
  element: ['core', 'client', 'model', 'marks', 'tensor-file', 'text', 'explore'],
  app: ['core', 'client', 'model', 'marks', 'tensor-file', 'text', 'explore', 'element'],
};

module.exports = {
  forbidden: [
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true, dependencyTypesNot: ['type-only'] } },
    ...Object.entries(layers).map(([layer, seen]) => ({
      name: `${layer}-sees-only-lower-layers`,
      severity: 'error',
      from: { path: `^web/src/${layer}/` },
      to: { path: '^web/src/[^/]+/', pathNot: `^web/src/(${[layer, ...seen].join('|')})/` },
    })),
    {
      name: 'only-core-sees-the-generated-module',
      severity: 'error',
      from: { path: '^web/src/', pathNot: '^web/src/core/' },
      to: { path: 'core/generated/' },
    },
  ],
  options: { parser: 'swc', tsPreCompilationDeps: true, doNotFollow: { path: 'node_modules|generated' } },
};
