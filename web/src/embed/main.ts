// The self-contained page for iframes: one element that fills it, made from what stands behind the "#".
// Its fields are the attributes of the element, and `show` names the element.

import { createClient } from '../inline/index.ts';
import { useClient } from '../element/index.ts';

const main = document.querySelector('main')!;
const names = ['attention', 'lsh', 'buckets', 'cell'];

useClient(() => createClient());

/** Tells the page around how high this one would like to be. */
function tellHeight(): void {
  if (parent === window) return;
  const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
  // Who embeds is not known; a height is no secret.
  parent.postMessage({ type: 'heed-height', height }, '*');
}

function show(): void {
  const fields = new URLSearchParams(location.hash.slice(1));
  const wanted = fields.get('show') ?? 'attention';
  const note = document.createElement('p');
  if (!names.includes(wanted)) {
    note.textContent = `show: received "${wanted}", expected ${names.join(', ')}.`;
    main.replaceChildren(note);
    return;
  }
  const element = document.createElement(`heed-${wanted}`);
  for (const [name, value] of fields) {
    // What is off in an address is an attribute that is not there.
    if (name !== 'show' && /^[a-z-]+$/.test(name)) element.setAttribute(name, value);
  }
  element.setAttribute('loading', 'eager');
  element.textContent = 'Loading…';
  main.replaceChildren(element);
  document.title = `heed: ${fields.get('text')?.slice(0, 60) ?? wanted}`;
}

addEventListener('hashchange', show);
new ResizeObserver(tellHeight).observe(document.documentElement);
show();
