// The key of dispose methods. Engines without `using` lack Symbol.dispose; there the key is a symbol of
// heed's own making, so that classes keep their shape.

export const disposeKey: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');
