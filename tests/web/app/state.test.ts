import { describe, expect, it } from 'vitest';
import { initialState, isDark, update } from '../../../web/src/app/state.ts';
import type { Action, State } from '../../../web/src/app/state.ts';
import type { Problem } from '../../../web/src/explore/problem.ts';
import { makeStore } from '../../../web/src/app/store.ts';

const shape = { batch: 1, heads: 2, kvHeads: 2, queryLen: 4, keyLen: 5, headDim: 3, valueDim: 3 };
const problem: Problem = {
  id: 1, title: 'test', description: '', shape, queryTokens: [], keyTokens: [],
  inputs: { query: new Float32Array(24), key: new Float32Array(30), value: new Float32Array(30), shape },
};
const after = (...actions: Action[]): State => actions.reduce(update, initialState);

describe('update', () => {
  it('forgets head, view, cell and hidden positions when another input is chosen', () => {
    const state = after(
      { type: 'look', look: { head: 1, selected: { row: 1, column: 2 }, view: { rows: [0, 2], columns: [0, 2] }, transform: 'linear' } },
      { type: 'set', settings: { hidden: [3], rounds: 8 } },
      { type: 'choose-input', input: { kind: 'sample', id: 'b' } },
    );
    expect(state.wish.look).toMatchObject({ head: 0, selected: null, view: null, transform: 'linear' });
    expect(state.wish.settings).toMatchObject({ hidden: [], rounds: 8 });
  });

  it('hides and shows a position, in order', () => {
    const state = after({ type: 'toggle-hidden', position: 7 }, { type: 'toggle-hidden', position: 2 }, { type: 'toggle-hidden', position: 10 });
    expect(state.wish.settings.hidden).toEqual([2, 7, 10]);
    expect(update(state, { type: 'toggle-hidden', position: 7 }).wish.settings.hidden).toEqual([2, 10]);
  });

  it('drops results that belong to the former problem', () => {
    const state = after({ type: 'problem', problem });
    const withResults = { ...state, results: {} as State['results'], headResults: {} as State['headResults'], readOut: {} as State['readOut'] };
    expect(update(withResults, { type: 'problem', problem: { ...problem, id: 2 } })).toMatchObject({ results: null, headResults: null, readOut: null });
  });

  it('brings a link that does not fit the problem back inside and says so', () => {
    const state = after(
      { type: 'look', look: { head: 2, selected: { row: 1, column: 5 }, view: { rows: [0, 5], columns: [0, 5] } } },
      { type: 'problem', problem },
    );
    expect(state.wish.look).toMatchObject({ head: 0, selected: null, view: null });
    expect(state.messages[0]!.text).toContain('head: received 2, expected below 2');
    expect(state.messages[0]!.text).toContain('cell: received 1,5, expected inside 4 x 5');
  });

  it('keeps one message a topic, the latest', () => {
    const say = (text: string): Action => ({ type: 'say', message: { topic: 'input', tone: 'error', text } });
    const state = after(say('first'), say('second'));
    expect(state.messages.map(({ text }) => text)).toEqual(['second']);
    expect(update(state, { type: 'unsay', topic: 'input' }).messages).toEqual([]);
  });

  it('keeps the text of the reader as a draft while another input is looked at', () => {
    const input = { ...initialState.textDraft, text: 'mine' };
    const state = after({ type: 'choose-input', input }, { type: 'choose-input', input: { kind: 'sample', id: 'a' } });
    expect(state.textDraft.text).toBe('mine');
  });

  it('attends to the text as it stands, with what was chosen while it was typed', () => {
    const state = after({ type: 'draft', draft: { text: 'typed' } }, { type: 'draft', draft: { split: 'words' } });
    expect(state.wish.input).toBeNull();
    expect(update(state, { type: 'attend-to-draft' }).wish.input).toMatchObject({ kind: 'text', text: 'typed', split: 'words' });
  });

  it('is dark when the reader or, left to itself, the system says so', () => {
    const dark = after({ type: 'system-dark', systemDark: true });
    expect(isDark(dark)).toBe(true);
    expect(isDark(update(dark, { type: 'look', look: { theme: 'light' } }))).toBe(false);
    expect(isDark(after({ type: 'look', look: { theme: 'dark' } }))).toBe(true);
  });
});

describe('makeStore', () => {
  it('lets every listener see each state in order, also when one dispatches', () => {
    const store = makeStore();
    const seen: number[][] = [[], []];
    store.listen((state) => {
      seen[0]!.push(state.wish.settings.rounds);
      if (state.wish.settings.rounds === 5) store.dispatch({ type: 'set', settings: { rounds: 6 } });
    });
    const stop = store.listen((state) => seen[1]!.push(state.wish.settings.rounds));
    store.dispatch({ type: 'set', settings: { rounds: 5 } });
    stop();
    store.dispatch({ type: 'set', settings: { rounds: 7 } });
    expect(seen).toEqual([[5, 6, 7], [5, 6]]);
  });

  it('goes on after a listener has thrown', () => {
    const store = makeStore();
    const stop = store.listen(() => { throw new Error('broken'); });
    expect(() => store.dispatch({ type: 'set', settings: { rounds: 5 } })).toThrow('broken');
    stop();
    store.dispatch({ type: 'set', settings: { rounds: 6 } });
    expect(store.state.wish.settings.rounds).toBe(6);
  });
});
