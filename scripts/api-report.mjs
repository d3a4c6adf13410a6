// Holds the package's types against the committed reports in web/docs/api, one an entry, and every
// export against its documentation. Needs dist/ (scripts/build-package).
//
//   usage: node scripts/api-report.mjs [--write]     --write takes the present interface as the new report
//
// Also writes the reference as Markdown to build/api.
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const write = process.argv.includes('--write');
const entries = { heed: 'index.d.ts', 'heed-client': 'client/index.d.ts', 'heed-inline': 'inline/index.d.ts', 'heed-element': 'element/types.d.ts' };
const models = join(root, 'build/api/models');
mkdirSync(join(root, 'web/docs/api'), { recursive: true });
mkdirSync(models, { recursive: true });

let failed = false;
for (const [name, file] of Object.entries(entries)) {
  const silent = { logLevel: ExtractorLogLevel.None };
  const config = ExtractorConfig.prepare({
    packageJsonFullPath: join(root, 'package.json'),
    configObjectFullPath: undefined,
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: join(root, 'dist', file),
      compiler: { overrideTsconfig: { compilerOptions: { target: 'es2022', module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom', 'esnext.disposable'], skipLibCheck: true, types: [] }, include: ['dist/**/*.d.ts'] } },
      apiReport: { enabled: true, reportFileName: `${name}.api.md`, reportFolder: join(root, 'web/docs/api'), reportTempFolder: join(root, 'build/api'), includeForgottenExports: true },
      docModel: { enabled: true, apiJsonFilePath: join(models, name, `${name}.api.json`), includeForgottenExports: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: 'lf',
      messages: { compilerMessageReporting: { default: silent }, extractorMessageReporting: { default: silent }, tsdocMessageReporting: { default: silent } },
    },
  });
  const result = Extractor.invoke(config, { localBuild: write, messageCallback: (message) => { message.handled = true; } });
  if (result.apiReportChanged && !write) {
    console.error(`${name}: the interface is not that of web/docs/api/${name}.api.md; npm run api takes it over`);
    failed = true;
  }
  const { members: [entry] } = JSON.parse(readFileSync(join(models, name, `${name}.api.json`), 'utf8'));
  // One at a time: all entries are of one package, which the documenter takes for a clash.
  execFileSync(join(root, 'node_modules/.bin/api-documenter'), ['markdown', '--input-folder', join(models, name), '--output-folder', join(root, 'build/api/reference', name)], { stdio: 'ignore' });
  for (const { name: symbol, docComment } of entry.members) {
    if ((docComment ?? '') === '') {
      console.error(`${name}: ${symbol} is not documented`);
      failed = true;
    }
  }
}
process.exitCode = failed ? 1 : 0;
