// The page: puts store, engine, pictures and views together.

import { render } from 'lit';
import { createClient } from '../client/client.ts';
import type { WeightKind } from '../core/types.ts';
import type { ExportFormat } from '../element/picture.ts';
import { Controller, explainError } from './controller.ts';
import { Engine } from '../explore/engine.ts';
import { guessTensors } from '../explore/guess-tensors.ts';
import { Inspectors } from './inspectors.ts';
import { openFile } from './open-file.ts';
import type { OpenFile } from './open-file.ts';
import { Pictures } from './pictures.ts';
import { listSamples, listTexts } from './samples.ts';
import { isDark } from './state.ts';
import { makeStore } from './store.ts';
import { linkTo, readAddress, syncAddress } from './url-sync.ts';
import { page } from './views/page.ts';
import '../element/styles/theme.css';
import '../element/styles/plain.css';
import '../element/styles/parts.css';
import './styles/theme.css';
import './styles/layout.css';
import './styles/parts.css';

const store = makeStore();
const { dispatch } = store;
const root = document.getElementById('app')!;

function listenToSystem(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const tell = () => dispatch({ type: 'system-dark', systemDark: dark.matches });
  dark.addEventListener('change', tell);
  tell();
}

function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The download has taken the address over by the next task.
  setTimeout(() => URL.revokeObjectURL(link.href));
}

let file: OpenFile | null = null;
let controller: Controller | undefined;

async function openDropped(dropped: File): Promise<void> {
  try {
    const opened = await openFile(dropped);
    file?.close();
    file = opened;
    const { name, tensors } = opened;
    dispatch({ type: 'file', file: { name, tensors } });
    dispatch({ type: 'open-panel', panel: 'file' });
    const { input } = store.state.wish;
    if (input?.kind === 'file' && input.name === name) {
      // The file that a link asks for.
      controller?.load();
      return;
    }
    const guess = guessTensors(tensors);
    if (guess === null) {
      dispatch({ type: 'say', message: { topic: 'input', tone: 'error', text: `${name}: received ${tensors.length} tensors, expected one of [N, d], [heads, N, d] or [batch, heads, N, d].` } });
    } else dispatch({ type: 'choose-input', input: { kind: 'file', name, ...guess } });
  } catch (error) {
    dispatch({ type: 'say', message: { topic: 'input', tone: 'error', text: `${dropped.name}: ${explainError(error)}.` } });
  }
}

function listenToDrops(): void {
  addEventListener('dragover', (event) => {
    event.preventDefault();
    document.body.classList.add('dropping');
  });
  addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) document.body.classList.remove('dropping');
  });
  addEventListener('drop', (event) => {
    event.preventDefault();
    document.body.classList.remove('dropping');
    const dropped = event.dataTransfer?.files[0];
    if (dropped !== undefined) void openDropped(dropped);
  });
}

async function copyText(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    dispatch({ type: 'say', message: { topic: 'link', tone: 'note', text: done } });
  } catch (error) {
    dispatch({ type: 'say', message: { topic: 'link', tone: 'error', text: `Copying failed (${explainError(error)}); select the text and copy it by hand.` } });
  }
}

async function start(): Promise<void> {
  listenToSystem();
  readAddress(store);
  syncAddress(store);
  listenToDrops();
  const actions = {
    openFile: (chosen: File) => void openDropped(chosen),
    copyLink: () => void copyText(linkTo(store.state), 'The link is copied.'),
    copyText: (text: string) => void copyText(text, 'The snippet is copied.'),
    cancel: () => controller?.cancel(),
    compute: () => controller?.compute(),
    export: (kind: WeightKind, format: ExportFormat) => void exportPicture(kind, format),
  };
  let pictures: Pictures | undefined;
  async function exportPicture(kind: WeightKind, format: ExportFormat): Promise<void> {
    try {
      save(await pictures!.export(kind, format), `heed-${kind}-head${store.state.wish.look.head}.${format}`);
    } catch (error) {
      dispatch({ type: 'say', message: { topic: 'picture', tone: 'error', text: `${explainError(error)}.` } });
    }
  }
  let scheduled = false;
  const show = () => {
    scheduled = false;
    const { state } = store;
    document.documentElement.dataset['theme'] = isDark(state) ? 'dark' : 'light';
    render(page(state, dispatch, actions), root);
    const panel = root.querySelector<HTMLDialogElement>('.share-panel')!;
    if (state.sharing !== null && !panel.open) panel.showModal();
    if (state.sharing === null && panel.open) panel.close();
  };
  store.listen(() => {
    if (!scheduled) requestAnimationFrame(show);
    scheduled = true;
  });
  show();
  try {
    const [client, samples, texts] = await Promise.all([
      createClient({ worker: () => new Worker(new URL('../worker/worker.ts', import.meta.url), { type: 'module' }) }),
      listSamples(),
      listTexts(),
    ]);
    dispatch({ type: 'instruction-set', instructionSet: client.instructionSet });
    dispatch({ type: 'samples', samples, texts });
    const engine = new Engine(client);
    const host = (name: string) => root.querySelector<HTMLElement>(`[data-host="${name}"]`)!;
    pictures = new Pictures(store, engine, (kind) => ({ map: host(`map-${kind}`), bar: host(`bar-${kind}`), caption: host(`caption-${kind}`) }));
    new Inspectors(store, { arithmetic: host('arithmetic'), buckets: host('buckets') });
    controller = new Controller(store, engine, { file: () => file });
    controller.load();
  } catch (error) {
    dispatch({ type: 'say', message: { topic: 'engine', tone: 'error', text: `heed could not start: ${explainError(error)}.` } });
  }
}

void start();
