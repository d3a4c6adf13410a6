// What a reader wants to see, as plain data: the input, the settings, and the look. The page keeps it in
// its address, the elements in their attributes.

import type { WeightKind } from '../core/types.ts';
import type { Transform } from '../model/color-scale.ts';
import type { Reduction } from '../model/tile-pyramid.ts';
import type { CellIndex, View } from '../model/view.ts';
import type { TextRequest } from '../text/text-job.ts';
import type { Settings } from './problem.ts';

export type TextInput = { readonly kind: 'text' } & TextRequest;
export interface SampleInput { readonly kind: 'sample'; readonly id: string }
/** Tensors of a file, by name; an empty key or value means the query's. */
export interface FileInput { readonly kind: 'file'; readonly name: string; readonly query: string; readonly key: string; readonly value: string }
export type Input = TextInput | SampleInput | FileInput;
export type InputKind = Input['kind'];

/** What is looked at, and how. */
export interface Look {
  readonly head: number;
  readonly batch: number;
  readonly reduction: Reduction;
  readonly transform: Transform;
  /** null: everything. */
  readonly view: View | null;
  readonly selected: CellIndex | null;
  /** Round shown in the bucket strip. */
  readonly round: number;
  /** The one picture shown where there is no room for three. */
  readonly picture: WeightKind;
  readonly theme: 'auto' | 'light' | 'dark';
}

/** What the address holds: enough to come back to the same page. */
export interface Wish {
  readonly input: Input | null;
  readonly settings: Settings;
  readonly look: Look;
}

export const defaultLook: Look = {
  head: 0, batch: 0, reduction: 'peak', transform: 'log', view: null, selected: null, round: 0, picture: 'exact', theme: 'auto',
};

export const defaultText: TextInput = {
  kind: 'text',
  text: 'The cat sat on the mat. The dog sat on the cat. The mat sat still.',
  split: 'bpe', heads: 4, headDim: 32, seed: 0, positions: false,
};
