// Packs the package and installs the tarball as a user would, for the tests of this folder.
//
//   usage: node tests/package/prepare.mjs        (after scripts/build-package)
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { project, root, run } from './support.mjs';

rmSync(project, { recursive: true, force: true });
mkdirSync(project, { recursive: true });
const [{ filename }] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', project], root));
writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'user', private: true, type: 'module' }));
run('npm', ['install', '--no-audit', '--no-fund', '--no-save', join(project, filename)]);
