// The one client that all elements of a page share: made when the first of them needs it, ended some
// time after the last has gone.

import { createClient } from '../client/client.ts';
import type { HeedClient } from '../client/client.ts';
import { HeedError } from '../core/errors.ts';

/** An element that is moved or replaced soon finds the client still there. */
const idleMs = 10_000;

let make: () => Promise<HeedClient> = () => createClient();
let shared: Promise<HeedClient> | undefined;
let users = 0;
let idle: ReturnType<typeof setTimeout> | undefined;

export function useClient(own: () => Promise<HeedClient>): void {
  if (shared !== undefined) {
    throw new HeedError({ code: 'invalid-value', field: 'useClient', received: 'a call after an element has started', expected: 'a call before the first element comes near' });
  }
  make = own;
}

/** Takes part in the client; call the result when done with it. A failure is not remembered. */
export function takeClient(): { readonly client: Promise<HeedClient>; release(): void } {
  clearTimeout(idle);
  users++;
  shared ??= make();
  const mine = shared;
  mine.catch(() => forget(mine));
  let released = false;
  return {
    client: mine,
    release() {
      if (released) return;
      released = true;
      if (--users > 0) return;
      idle = setTimeout(() => {
        forget(mine);
        mine.then((client) => client.dispose(), () => undefined);
      }, idleMs);
    },
  };
}

/** The next to come makes another: this one is ended or broken. */
export function forget(client: Promise<HeedClient>): void {
  if (shared === client) shared = undefined;
}
