// The packed tarball in Debian's Firefox ESR, which is told an address and answers by a request.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { assertWorks, serve, siteWith, useInPage } from './support.mjs';

/** Opens a page of a site in Firefox; resolves to what it sends to /tell. */
async function told(files) {
  let answer;
  const answered = new Promise((resolve) => { answer = resolve; });
  const site = await serve(siteWith('firefox', files), {
    on(request, response, pathname) {
      if (pathname !== '/tell') return false;
      let body = '';
      request.on('data', (part) => { body += part; }).on('end', () => { response.end(); answer(JSON.parse(body)); });
      return true;
    },
  });
  const profile = mkdtempSync(join(tmpdir(), 'heed-firefox-'));
  const firefox = spawn('firefox-esr', ['--headless', '--no-remote', '--profile', profile, `${site.origin}/index.html`], { stdio: 'ignore', env: { ...process.env, HOME: profile } });
  const failed = new Promise((_, reject) => {
    firefox.on('error', reject);
    // Headless, on a busy machine, it takes ten seconds to start.
    setTimeout(() => reject(new Error('Firefox said nothing for a minute')), 60_000).unref();
  });
  try {
    return await Promise.race([answered, failed]);
  } finally {
    firefox.kill('SIGKILL');
    site.close();
    await new Promise((resolve) => { setTimeout(resolve, 300); });
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

const tell = "(result) => fetch('/tell', { method: 'POST', body: JSON.stringify(result) })";

test('the facade, a worker and two workers compute in Firefox', async (t) => {
  const result = await told({
    'index.html': `<!doctype html><title>x</title><script type="module">
      import { init } from './heed/index.js'; import { createClient } from './heed/client/index.js'; ${useInPage(tell)}</script>`,
  });
  t.diagnostic(`instruction set: ${result.instructionSet}`);
  assertWorks(result, result.instructionSet);
});

test('the elements and the page for iframes work in Firefox', async () => {
  const result = await told({
    'index.html': `<!doctype html><title>x</title><script>
        const height = new Promise((done) => { addEventListener('message', ({ data }) => { if (data?.type === 'heed-height') done(data.height); }); });
      </script><script type="module" src="heed/element/index.js"></script>
      <heed-lsh text="a b a" loading="eager" style="display:block;height:30rem"></heed-lsh>
      <iframe sandbox="allow-scripts" src="heed/embed.html#text=a+b" title="x"></iframe>
      <script type="module">
        const tell = ${tell};
        const element = document.querySelector('heed-lsh');
        element.addEventListener('error', ({ detail }) => tell({ failure: detail.message }));
        if (element.results === null) await new Promise((done) => { element.addEventListener('ready', done); });
        tell({ queryLen: element.results.queryLen, svg: (await (await element.export('svg')).text()).slice(0, 4), told: (await height) > 0 });
      </script>`,
  });
  assert.deepEqual(result, { queryLen: 3, svg: '<svg', told: true });
});
