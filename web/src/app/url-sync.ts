// Keeps the address and the wish the same: a step in the history for each choice, none for moving
// about in the pictures.

import { readWish, writeWish } from '../explore/url-state.ts';
import type { State } from './state.ts';
import type { Store } from './store.ts';

/** Several changes within this time are one step back. */
const pauseMs = 300;

function withoutView({ wish }: State): string {
  return writeWish({ ...wish, look: { ...wish.look, view: null } });
}

export function readAddress(store: Store): void {
  const { wish, problems } = readWish(new URLSearchParams(location.hash.slice(1)));
  store.dispatch({ type: 'navigate', wish });
  if (problems.length > 0) store.dispatch({ type: 'say', message: { topic: 'link', tone: 'error', text: `In the link: ${problems.join('; ')}. The defaults are used.` } });
}

/** The address of the state, whether or not it is in the address bar yet. */
export function linkTo(state: State): string {
  const hash = writeWish(state.wish);
  return new URL(hash === '' ? location.pathname + location.search : `#${hash}`, location.href).href;
}

export function syncAddress(store: Store): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let written = withoutView(store.state);
  store.listen((state, previous, action) => {
    if (action.type === 'navigate') {
      clearTimeout(timer);
      written = withoutView(state);
      return;
    }
    if (state.wish === previous.wish) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      const now = withoutView(store.state);
      const link = linkTo(store.state);
      if (now !== written) history.pushState(null, '', link);
      else if (link !== location.href) history.replaceState(null, '', link);
      written = now;
    }, pauseMs);
  });
  addEventListener('popstate', () => readAddress(store));
}
