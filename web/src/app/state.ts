// Everything the page knows, as plain data, and the one function that changes it. No DOM, no worker.

import type { CellArithmetic, LshStructure, WeightKind } from '../core/types.ts';
import { defaultSettings } from '../explore/problem.ts';
import type { HeadResults, Problem, Progress, Results, Settings, TensorEntry } from '../explore/problem.ts';
import type { Show, SnippetId } from '../explore/snippets.ts';
import { defaultLook, defaultText } from '../explore/wish.ts';
import type { Input, InputKind, Look, TextInput, Wish } from '../explore/wish.ts';
import type { CellIndex } from '../model/view.ts';

export interface SampleText { readonly title: string; readonly source: string; readonly text: string }
export interface Sample { readonly id: string; readonly file: string; readonly title: string; readonly description: string; readonly detail: string }

export interface Structure { readonly head: number; readonly batch: number; readonly round: number; readonly lshVersion: string; readonly structure: LshStructure }
export interface ReadOut { readonly cell: CellIndex; readonly lshVersion: string; readonly arithmetic: CellArithmetic }

/** What the panel for embedding shows. */
export interface Sharing { readonly show: Show; readonly mechanism: WeightKind; readonly snippet: SnippetId }

export type Topic = 'input' | 'settings' | 'link' | 'engine' | 'picture';
export interface Message { readonly topic: Topic; readonly tone: 'error' | 'note'; readonly text: string }

export interface State {
  readonly wish: Wish;
  /** The way in that is open on the page; not always that of the wish. */
  readonly panel: InputKind;
  readonly textDraft: TextInput;
  readonly samples: readonly Sample[];
  readonly texts: readonly SampleText[];
  readonly file: { readonly name: string; readonly tensors: readonly TensorEntry[] } | null;
  readonly problem: Problem | null;
  readonly results: Results | null;
  readonly headResults: HeadResults | null;
  readonly structure: Structure | null;
  readonly hover: CellIndex | null;
  readonly readOut: ReadOut | null;
  /** Of the selected cell. */
  readonly explained: ReadOut | null;
  readonly progress: Progress | null;
  readonly messages: readonly Message[];
  /** null while the panel is closed. */
  readonly sharing: Sharing | null;
  readonly instructionSet: string;
  readonly systemDark: boolean;
}

export const initialState: State = {
  wish: { input: null, settings: defaultSettings, look: defaultLook },
  panel: 'sample', textDraft: defaultText, samples: [], texts: [], file: null,
  problem: null, results: null, headResults: null, structure: null,
  hover: null, readOut: null, explained: null,
  progress: null, messages: [], sharing: null, instructionSet: '', systemDark: false,
};

export type Action =
  | { readonly type: 'navigate'; readonly wish: Wish }
  | { readonly type: 'open-panel'; readonly panel: InputKind }
  | { readonly type: 'choose-input'; readonly input: Input }
  | { readonly type: 'draft'; readonly draft: Partial<TextInput> }
  | { readonly type: 'attend-to-draft' }
  | { readonly type: 'set'; readonly settings: Partial<Settings> }
  | { readonly type: 'look'; readonly look: Partial<Look> }
  | { readonly type: 'toggle-hidden'; readonly position: number }
  | { readonly type: 'samples'; readonly samples: readonly Sample[]; readonly texts: readonly SampleText[] }
  | { readonly type: 'file'; readonly file: State['file'] }
  | { readonly type: 'problem'; readonly problem: Problem }
  | { readonly type: 'results'; readonly results: Results | null }
  | { readonly type: 'head-results'; readonly headResults: HeadResults }
  | { readonly type: 'structure'; readonly structure: Structure }
  | { readonly type: 'hover'; readonly hover: CellIndex | null }
  | { readonly type: 'read-out'; readonly readOut: ReadOut | null }
  | { readonly type: 'explained'; readonly explained: ReadOut | null }
  | { readonly type: 'progress'; readonly progress: Progress | null }
  | { readonly type: 'say'; readonly message: Message }
  | { readonly type: 'unsay'; readonly topic: Topic }
  | { readonly type: 'share'; readonly sharing: Sharing | null }
  | { readonly type: 'instruction-set'; readonly instructionSet: string }
  | { readonly type: 'system-dark'; readonly systemDark: boolean };

function withoutTopic(messages: readonly Message[], topic: Topic): readonly Message[] {
  return messages.filter((message) => message.topic !== topic);
}

function withLook(state: State, look: Partial<Look>): State {
  return { ...state, wish: { ...state.wish, look: { ...state.wish.look, ...look } } };
}

function withSettings(state: State, settings: Partial<Settings>): State {
  return { ...state, wish: { ...state.wish, settings: { ...state.wish.settings, ...settings } } };
}

/** The look as far as it fits a problem, and a note for each thing that had to give. */
export function fitLook(look: Look, shape: Problem['shape']): { readonly look: Look; readonly notes: readonly string[] } {
  const notes: string[] = [];
  const below = (name: string, value: number, limit: number): number => {
    if (value < limit) return value;
    notes.push(`${name}: received ${value}, expected below ${limit}; 0 is shown`);
    return 0;
  };
  const fits = (cell: CellIndex | null) => cell === null || (cell.row < shape.queryLen && cell.column < shape.keyLen);
  const inside = look.view === null || (look.view.rows[1] <= shape.queryLen && look.view.columns[1] <= shape.keyLen);
  if (!fits(look.selected)) notes.push(`cell: received ${look.selected!.row},${look.selected!.column}, expected inside ${shape.queryLen} x ${shape.keyLen}`);
  return {
    look: {
      ...look,
      head: below('head', look.head, shape.heads),
      batch: below('batch', look.batch, shape.batch),
      selected: fits(look.selected) ? look.selected : null,
      view: inside ? look.view : null,
    },
    notes,
  };
}

function toggle(hidden: readonly number[], position: number): readonly number[] {
  return hidden.includes(position) ? hidden.filter((other) => other !== position) : [...hidden, position].sort((a, b) => a - b);
}

/** The state after an action. Pure. */
export function update(state: State, action: Action): State {
  switch (action.type) {
    case 'navigate': {
      const { input } = action.wish;
      return {
        ...state, wish: action.wish, panel: input?.kind ?? state.panel,
        textDraft: input?.kind === 'text' ? input : state.textDraft,
      };
    }
    case 'open-panel':
      return { ...state, panel: action.panel };
    case 'choose-input': {
      // Another input: positions, heads and the view of the former say nothing about it.
      const { input } = action;
      const settled = withSettings(withLook(state, { head: 0, batch: 0, view: null, selected: null }), { hidden: [] });
      return {
        ...settled, panel: input.kind, explained: null, readOut: null, hover: null,
        wish: { ...settled.wish, input }, textDraft: input.kind === 'text' ? input : state.textDraft,
      };
    }
    case 'draft':
      return { ...state, textDraft: { ...state.textDraft, ...action.draft } };
    case 'attend-to-draft':
      return update(state, { type: 'choose-input', input: state.textDraft });
    case 'set':
      return withSettings(state, action.settings);
    case 'look':
      return withLook(state, action.look);
    case 'toggle-hidden':
      return withSettings(state, { hidden: toggle(state.wish.settings.hidden, action.position) });
    case 'samples':
      return { ...state, samples: action.samples, texts: action.texts };
    case 'file':
      return { ...state, file: action.file };
    case 'problem': {
      const { look, notes } = fitLook(state.wish.look, action.problem.shape);
      const messages = withoutTopic(state.messages, 'input');
      return {
        ...state, problem: action.problem, results: null, headResults: null, structure: null, readOut: null, explained: null, hover: null,
        wish: { ...state.wish, look },
        messages: notes.length === 0 ? messages : [...withoutTopic(messages, 'link'), { topic: 'link', tone: 'note', text: notes.join('; ') }],
      };
    }
    case 'results':
      return { ...state, results: action.results };
    case 'head-results':
      return { ...state, headResults: action.headResults };
    case 'structure':
      return { ...state, structure: action.structure };
    case 'hover':
      return { ...state, hover: action.hover };
    case 'read-out':
      return { ...state, readOut: action.readOut };
    case 'explained':
      return { ...state, explained: action.explained };
    case 'progress':
      return { ...state, progress: action.progress };
    case 'say':
      return { ...state, messages: [...withoutTopic(state.messages, action.message.topic), action.message] };
    case 'unsay':
      return { ...state, messages: withoutTopic(state.messages, action.topic) };
    case 'share':
      return { ...state, sharing: action.sharing };
    case 'instruction-set':
      return { ...state, instructionSet: action.instructionSet };
    case 'system-dark':
      return { ...state, systemDark: action.systemDark };
  }
}

export function isDark(state: State): boolean {
  const { theme } = state.wish.look;
  return theme === 'dark' || (theme === 'auto' && state.systemDark);
}
