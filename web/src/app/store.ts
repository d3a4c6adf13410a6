// Holds the state, applies actions to it, tells listeners.

import { initialState, update } from './state.ts';
import type { Action, State } from './state.ts';

export type Dispatch = (action: Action) => void;
export type Listener = (state: State, previous: State, action: Action) => void;

export interface Store {
  readonly state: State;
  readonly dispatch: Dispatch;
  /** Returns how to stop listening. */
  listen(listener: Listener): () => void;
}

/** Actions dispatched by listeners wait until all have heard of the current one. */
export function makeStore(start: State = initialState): Store {
  let state = start;
  const listeners = new Set<Listener>();
  const queue: Action[] = [];
  let running = false;
  return {
    get state() {
      return state;
    },
    dispatch(action) {
      queue.push(action);
      if (running) return;
      running = true;
      try {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
          const previous = state;
          state = update(previous, next);
          for (const listener of listeners) listener(state, previous, next);
        }
      } finally {
        running = false;
        queue.length = 0;
      }
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
