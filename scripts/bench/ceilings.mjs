// The ceiling modules, built from cpp/bench with the presets of the library.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Bytes by SIMD variant. */
export function buildCeilings(root) {
  const build = (preset) => {
    execFileSync('cmake', ['--preset', preset, '-DHEED_BUILD_BENCH=ON'], { cwd: root, stdio: 'ignore' });
    execFileSync('cmake', ['--build', '--preset', preset, '--target', 'heed_ceiling'], { cwd: root, stdio: 'ignore' });
    return readFileSync(join(root, `build/${preset}/cpp/bench/heed_ceiling.wasm`));
  };
  return { simd128: build('wasm'), relaxed: build('wasm-relaxed') };
}
