// What all elements have in common: when they start and stop, how attributes become pictures, what is
// shown before, while and instead, and their events. Subclasses say what is shown.

import { html, LitElement, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import { abortedError, HeedError } from '../core/errors.ts';
import type { AttentionInputs, WeightKind } from '../core/types.ts';
import type { Progress } from '../explore/problem.ts';
import { defaultText } from '../explore/wish.ts';
import { fitsInLink, writeWish } from '../explore/url-state.ts';
import type { TextInput, Wish } from '../explore/wish.ts';
import { attributeNames, propertyOf, reflectAttributes, upgradeProperties, wishOf } from './attributes.ts';
import { Exploration } from './exploration.ts';
import type { Findings } from './exploration.ts';
import type { ExportFormat } from './picture.ts';
import { progressBar } from './progress.ts';
import { settingsBar } from './settings-bar.ts';
import { forget, takeClient } from './shared-client.ts';
import type { Source } from './source.ts';
import { styles } from './styles.ts';
import type { HeedResults } from './types.ts';

/** Loading begins when the element is this near to what is seen. */
const nearPixels = '400px';
const dataNames = ['inputs', 'queryTokens', 'keyTokens'] as const;

/** Data of the page's own, which no attribute can hold. */
type Data = Pick<Source, typeof dataNames[number]>;

interface Failure { readonly code: string; readonly field: string; readonly received: string; readonly expected: string; readonly message: string }

function failureOf(error: unknown): Failure {
  const { message } = error instanceof Error ? error : new Error(String(error));
  if (error instanceof HeedError) return { code: error.code, field: error.field, received: error.received, expected: error.expected, message };
  return { code: 'invalid-value', field: 'src', received: message, expected: 'a file that can be read', message };
}

/**
 * What all elements have in common.
 *
 * @attr {string} text - a text to attend to
 * @attr {string} src - address of a .npy, .npz or .safetensors file, or of a text; also a data: URL
 * @attr {string} q - name of the query tensor in src; default: guessed
 * @attr {string} k - name of the key tensor
 * @attr {string} v - name of the value tensor
 * @attr {words|characters|bpe} split - how text becomes tokens
 * @attr {number} heads - heads of a text's embedding
 * @attr {number} dim - head width of a text's embedding
 * @attr {number} text-seed - seed of a text's embedding
 * @attr {boolean} positions - whether sinusoidal positions are added to a text's embedding
 * @attr {number} head - the head in view
 * @attr {number} batch - the batch entry in view
 * @attr {boolean} causal - a query sees no later key
 * @attr {number} scale - factor on the dot product; default 1 / sqrt(head width)
 * @attr {number} left - keys before its own position that a query sees
 * @attr {number} right - keys after its own position that a query sees
 * @attr {number} cap - soft cap of the logits
 * @attr {string} hide - hidden positions, such as 3,10-12
 * @attr {number} rounds - independent hashes
 * @attr {number} buckets - buckets of a hash; even
 * @attr {number} chunk - sorted vectors attended to together
 * @attr {number} seed - seed of the hashes
 * @attr {gaussian|hadamard} rotation - the random rotation of a hash
 * @attr {boolean} shared - keys are the normalised queries
 * @attr {boolean} true-buckets - candidates are the whole bucket
 * @attr {peak|mean} cells - how a cell that covers several entries is reduced
 * @attr {log|linear} colours - the colour scale
 * @attr {string} view - the part in view: first row, last row, first column, last column
 * @attr {string} cell - the selected cell: query,key
 * @attr {number} round - the round of hashing in view, from 0
 * @attr {exact|difference|lsh} picture - the map shown where there is room for one
 * @attr {auto|light|dark} theme - auto follows the reader's system
 * @attr {boolean} controls - whether settings and export buttons are shown
 * @attr {lazy|eager} loading - lazy: nothing is loaded before the element comes near
 * @attr {string} page - address of a heed page; shows a link that opens the same state there
 * @fires ready - the first picture of an input is drawn; detail: HeedResults
 * @fires change - a later picture is drawn; detail: HeedResults
 * @fires error - detail: code, field, received, expected, message
 * @slot - what is shown before the first picture, without JavaScript, and when something fails
 * @slot poster - a picture shown before the first one is drawn
 * @csspart frame - everything
 * @csspart controls - the settings
 * @csspart picture - a map with its colour bar and caption
 * @csspart summary - the picture in words, for screen readers
 * @csspart arithmetic - the arithmetic of a chosen cell
 * @csspart error - what went wrong
 * @csspart link - the link to the heed page
 * @cssprop --heed-paper - background
 * @cssprop --heed-ink - text
 * @cssprop --heed-accent - buttons and links
 * @cssprop --heed-font - font family
 * @cssprop --heed-radius - of the frame's corners
 */
export abstract class HeedElementBase extends LitElement {
  static override readonly styles = styles;
  static override get observedAttributes(): string[] {
    return [...super.observedAttributes, ...attributeNames];
  }

  protected exploration: Exploration | null = null;
  protected findings: Findings | null = null;
  /** What the attributes ask for; that of `findings` may be older. */
  protected wish: Wish | null = null;
  protected shade: 'light' | 'dark' = 'light';
  #data: Data = { inputs: null, queryTokens: null, keyTokens: null };
  #progress: Progress | null = null;
  #failure: Failure | null = null;
  #started = false;
  #cancelled = false;
  #announced: object | null = null;
  #release: (() => void) | null = null;
  #nearness: IntersectionObserver | null = null;
  #dark: MediaQueryList | null = null;
  readonly #themeChanged = () => this.requestUpdate();

  get inputs(): AttentionInputs | null { return this.#data.inputs; }
  set inputs(inputs: AttentionInputs | null) { this.#setData({ inputs }); }
  get queryTokens(): readonly string[] | null { return this.#data.queryTokens; }
  set queryTokens(queryTokens: readonly string[] | null) { this.#setData({ queryTokens }); }
  get keyTokens(): readonly string[] | null { return this.#data.keyTokens; }
  set keyTokens(keyTokens: readonly string[] | null) { this.#setData({ keyTokens }); }

  get results(): HeedResults | null {
    if (this.findings === null) return null;
    const { problem: { shape: { queryLen, keyLen, heads } }, parameters, cost, quality, exactMs, lshMs } = this.findings.results;
    return { queryLen, keyLen, heads, parameters, cost, quality, exactMs, lshMs };
  }

  abstract export(format: ExportFormat, picture?: WeightKind): Promise<Blob>;

  /** Between the settings and the foot, once there are findings. */
  protected abstract body(findings: Findings, wish: Wish): TemplateResult;
  /** Draws what templates cannot, after the body has been rendered; also asks for what it needs. */
  protected abstract draw(findings: Findings, wish: Wish): void;
  /** Takes down what draw() made. */
  protected abstract clear(): void;
  /** Whether LSH settings belong to what is shown. */
  protected abstract usesHashing(wish: Wish): boolean;
  protected readonly exports: boolean = true;

  override connectedCallback(): void {
    upgradeProperties(this, [...attributeNames.map(propertyOf), ...dataNames]);
    super.connectedCallback();
    this.#dark = matchMedia('(prefers-color-scheme: dark)');
    this.#dark.addEventListener('change', this.#themeChanged);
    this.#watchNearness();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#dark?.removeEventListener('change', this.#themeChanged);
    this.#nearness?.disconnect();
    // An element that is only moved is connected again in the same task.
    queueMicrotask(() => { if (!this.isConnected) this.#stop(); });
  }

  override attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    super.attributeChangedCallback(name, before, value);
    if (before === value) return;
    if (name === 'loading' && this.isConnected) this.#watchNearness();
    this.#cancelled = false;
    this.requestUpdate('attributes');
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    const chosen = this.getAttribute('theme');
    this.shade = chosen === 'dark' || (chosen !== 'light' && this.#dark?.matches === true) ? 'dark' : 'light';
    if (changed.has('attributes') && this.#started) void this.#look();
  }

  protected override render(): TemplateResult {
    const { findings, wish } = this;
    const shown = findings !== null && wish !== null;
    const stale = this.#progress !== null || this.#failure !== null;
    return html`
      <div class="heed" part="frame" data-theme=${this.shade} aria-busy=${this.#progress !== null ? 'true' : 'false'}>
        ${this.#failure === null ? nothing : html`<p class="failure" part="error" role="alert">${this.#failure.message}.</p>`}
        ${shown ? nothing : html`<div class="before" part="fallback"><slot name="poster"></slot><slot></slot></div>`}
        ${shown ? html`
          ${this.hasAttribute('controls') ? settingsBar(findings.results, wish, this.usesHashing(wish), (name, value) => this.change(name, value)) : nothing}
          <div class="after" data-stale=${stale ? 'true' : 'false'}>${this.body(findings, wish)}</div>
          <div class="foot">${this.#foot(wish)}</div>` : nothing}
        ${this.#progress !== null ? html`<div class="bottom">${progressBar(this.#progress, () => this.#cancel())}</div>` : nothing}
        ${this.#cancelled ? html`<div class="bottom"><button type="button" @click=${() => this.#resume()}>Compute</button></div>` : nothing}
      </div>`;
  }

  protected override updated(): void {
    const { findings, wish } = this;
    if (findings === null || wish === null) return;
    this.draw(findings, wish);
    if (this.#announced === findings) return;
    const first = this.#announced === null;
    this.#announced = findings;
    this.dispatchEvent(new CustomEvent(first ? 'ready' : 'change', { detail: this.results, bubbles: true, composed: true }));
  }

  /** A reader's choice, kept in the attribute. */
  protected change(name: string, value: string | number | boolean | null): void {
    if (value === null || value === false) this.removeAttribute(name);
    else this.setAttribute(name, value === true ? '' : String(value));
  }

  /** Shows what went wrong and tells the page. Work that a newer wish has replaced went as it should. */
  protected fail(error: unknown): void {
    if (error instanceof HeedError && (error.code === 'aborted' || error.code === 'disposed')) return;
    this.#failure = failureOf(error);
    this.requestUpdate();
    this.dispatchEvent(new CustomEvent('error', { detail: this.#failure, bubbles: true, composed: true }));
  }

  #setData(data: Partial<Data>): void {
    this.#data = { ...this.#data, ...data };
    this.requestUpdate('attributes');
  }

  #watchNearness(): void {
    this.#nearness?.disconnect();
    if (this.getAttribute('loading') === 'eager') {
      this.#start();
      return;
    }
    this.#nearness = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      this.#nearness?.disconnect();
      this.#start();
    }, { rootMargin: nearPixels });
    this.#nearness.observe(this);
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    void this.#look();
  }

  #stop(): void {
    this.#started = false;
    this.#dropWork();
    this.clear();
    this.findings = null;
    this.#announced = null;
    this.#progress = null;
    this.#failure = null;
  }

  #dropWork(): void {
    this.exploration?.cancel();
    this.exploration = null;
    this.#release?.();
    this.#release = null;
  }

  #cancel(): void {
    this.exploration?.cancel();
    this.#progress = null;
    this.#cancelled = true;
    this.requestUpdate();
  }

  #resume(): void {
    this.#cancelled = false;
    void this.#look();
  }

  async #look(): Promise<void> {
    let client: ReturnType<typeof takeClient>['client'] | undefined;
    try {
      const wish = wishOf(this);
      if (this.exploration === null) {
        const taken = takeClient();
        this.#release?.();
        this.#release = taken.release;
        client = taken.client;
        this.#report({ step: 'loading', fraction: 0 });
        const exploration = new Exploration(await client);
        if (this.#release !== taken.release || this.exploration !== null) throw abortedError();
        this.exploration = exploration;
      }
      const { exploration } = this;
      const findings = await exploration.look(this.#source(wish), wish, this.baseURI, (progress) => this.#report(progress));
      if (this.exploration !== exploration) return;
      [this.findings, this.wish] = [findings, wish];
      [this.#progress, this.#failure] = [null, null];
      this.requestUpdate();
    } catch (error) {
      if (error instanceof HeedError && error.code === 'worker-died') {
        // All that was in the worker is gone; the next change starts another.
        if (client !== undefined) forget(client);
        this.#dropWork();
      }
      if (!(error instanceof HeedError && error.code === 'aborted')) this.#progress = null;
      this.fail(error);
    }
  }

  #report(progress: Progress): void {
    this.#progress = progress;
    this.requestUpdate();
  }

  #source({ input }: Wish): Source {
    const { text: _, kind: __, ...textFields } = (input?.kind === 'text' ? input : defaultText) as TextInput;
    return {
      ...this.#data, textFields, src: this.getAttribute('src'), text: this.getAttribute('text'),
      names: { q: this.getAttribute('q'), k: this.getAttribute('k'), v: this.getAttribute('v') },
    };
  }

  #foot(wish: Wish): TemplateResult {
    const page = this.getAttribute('page');
    const save = this.hasAttribute('controls') && this.exports;
    return html`
      ${save ? html`<span role="group" aria-label="Save the picture">${(['png', 'svg', 'csv'] as const).map((format) => html`<button type="button" class="quiet" aria-label=${`Save as ${format.toUpperCase()}`} @click=${() => void this.#save(format)}>${format.toUpperCase()}</button>`)}</span>` : nothing}
      ${page === null ? nothing : html`<a part="link" href=${this.#pageLink(page, wish)} target="_blank" rel="noopener">Open in heed</a>`}`;
  }

  /** The page with the same state, as far as a link can hold it: a text, not tensors. */
  #pageLink(page: string, wish: Wish): string {
    const input = this.getAttribute('text') !== null && fitsInLink(wish.input) ? wish.input : null;
    return `${new URL(page, this.baseURI).href.replace(/#.*$/, '')}#${writeWish({ ...wish, input })}`;
  }

  async #save(format: ExportFormat): Promise<void> {
    try {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(await this.export(format));
      link.download = `${this.localName}.${format}`;
      link.click();
      // The download has taken the address over by the next task.
      setTimeout(() => URL.revokeObjectURL(link.href));
    } catch (error) {
      this.fail(error);
    }
  }
}

reflectAttributes(HeedElementBase.prototype);
