// The public face of the elements: their attributes as properties, their events and methods. Types only.

import type { HeedErrorParts } from '../core/errors.ts';
import type { AttentionInputs, LshCost, LshParameters, LshQuality, WeightKind } from '../core/types.ts';

/** What an element has computed. Times are those of the kernels. */
export interface HeedResults {
  readonly queryLen: number;
  readonly keyLen: number;
  readonly heads: number;
  readonly parameters: LshParameters;
  readonly cost: LshCost;
  readonly quality: LshQuality;
  readonly exactMs: number;
  readonly lshMs: number;
}

/**
 * What all elements have. Each property but `inputs` and the tokens is an attribute of the same meaning,
 * and set to null (or false) it removes the attribute. Names and values are those of the page's address.
 */
export interface HeedElementProperties {
  /** Query, key and value of your own; they come before `src` and `text`. */
  inputs: AttentionInputs | null;
  /** Labels of queries and keys of `inputs`. Default: their positions. */
  queryTokens: readonly string[] | null;
  keyTokens: readonly string[] | null;
  /** A text to attend to, embedded at random from a seed (attribute `text`). */
  text: string | null;
  /** Address of a .npy, .npz or .safetensors file, or of a text; also a data: URL (attribute `src`). */
  src: string | null;
  /** Names of tensors in `src`; default: guessed by name and shape (attributes `q`, `k`, `v`). */
  q: string | null;
  k: string | null;
  v: string | null;
  /** How text becomes tokens: words (default), characters, bpe (attribute `split`). */
  split: 'words' | 'characters' | 'bpe' | null;
  /** Heads and width of a text's embedding, its seed, and whether positions are added (attributes `heads`, `dim`, `text-seed`, `positions`). */
  heads: number | null;
  dim: number | null;
  textSeed: number | null;
  positions: boolean;
  /** The head and the batch entry in view. */
  head: number | null;
  batch: number | null;
  causal: boolean;
  scale: number | null;
  /** Keys before and after its own position that a query sees (attributes `left`, `right`). */
  left: number | null;
  right: number | null;
  /** Soft cap of the logits (attribute `cap`). */
  cap: number | null;
  /** Hidden positions, such as "3,10-12" (attribute `hide`). */
  hide: string | null;
  rounds: number | null;
  buckets: number | null;
  chunk: number | null;
  seed: number | null;
  rotation: 'gaussian' | 'hadamard' | null;
  shared: boolean;
  trueBuckets: boolean;
  /** How a cell that covers several entries is reduced (attribute `cells`). */
  cells: 'peak' | 'mean' | null;
  colours: 'log' | 'linear' | null;
  /** The selected cell, "query,key". */
  cell: string | null;
  /** The round of hashing in view, from 0. */
  round: number | null;
  theme: 'auto' | 'light' | 'dark' | null;
  /** Whether settings and export buttons are shown. */
  controls: boolean;
  /** lazy (default): nothing is loaded before the element comes near. */
  loading: 'lazy' | 'eager' | null;
  /** Address of a heed page; shows a link that opens the same state there. */
  page: string | null;
}

/** What all elements can do. */
export interface HeedElementMethods {
  /** Of the last computation; null before it. */
  readonly results: HeedResults | null;
  /** The picture as PNG, SVG or CSV. Rejects while nothing is shown. */
  export(format: 'png' | 'svg' | 'csv', picture?: WeightKind): Promise<Blob>;
}

/** Events bubble out of shadow roots. */
export interface HeedElementEvents {
  /** The first picture of an input is drawn. */
  ready: CustomEvent<HeedResults>;
  /** A later picture is drawn, after a setting has changed. */
  change: CustomEvent<HeedResults>;
  error: CustomEvent<HeedErrorParts & { readonly message: string }>;
}

/** What all elements are. */
export interface HeedElement extends HTMLElement, HeedElementProperties, HeedElementMethods {
  addEventListener<K extends keyof HeedElementEvents>(type: K, listener: (this: this, event: HeedElementEvents[K]) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

/** `<heed-attention>`: one map of attention weights. */
export interface HeedAttentionElement extends HeedElement {
  /** exact (default), lsh, or difference (LSH minus exact). */
  mechanism: WeightKind | null;
}

/** `<heed-lsh>`: exact attention, LSH attention and their difference, with what hashing kept and cost. */
export type HeedLshElement = HeedElement;
/** `<heed-buckets>`: how a round of hashing sorts keys into buckets and chunks, and what a query meets. */
export type HeedBucketsElement = HeedElement;
/** `<heed-cell>`: the whole arithmetic of one weight. */
export type HeedCellElement = HeedElement;

/** The class of `<heed-attention>`. */
export declare const HeedAttention: new () => HeedAttentionElement;
/** The class of `<heed-lsh>`. */
export declare const HeedLsh: new () => HeedLshElement;
/** The class of `<heed-buckets>`. */
export declare const HeedBuckets: new () => HeedBucketsElement;
/** The class of `<heed-cell>`. */
export declare const HeedCell: new () => HeedCellElement;

/** What the elements of a page compute with, should the package's own worker not do: called once, before the first element comes near. */
export declare function useClient(make: () => Promise<import('../client/client.ts').HeedClient>): void;

declare global {
  interface HTMLElementTagNameMap {
    'heed-attention': HeedAttentionElement;
    'heed-lsh': HeedLshElement;
    'heed-buckets': HeedBucketsElement;
    'heed-cell': HeedCellElement;
  }
}
