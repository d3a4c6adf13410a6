// Form fields as templates: labelled, with the value from the state and one way back.

import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';

export interface NumberField {
  readonly name: string;
  readonly label: string;
  /** null is shown as an empty field with the placeholder. */
  readonly value: number | null;
  readonly placeholder?: string;
  readonly title?: string;
  readonly step?: number | 'any';
  readonly min?: number;
  change(value: number | null): void;
}

/** What is typed goes to the core as it is, which says what is wrong with it; an empty field means null. */
export function numberField({ name, label, value, placeholder, title, step = 1, min, change }: NumberField): TemplateResult {
  const changed = (event: Event) => {
    const field = event.target as HTMLInputElement;
    if (field.validity.badInput) return;
    change(field.value === '' ? null : field.valueAsNumber);
  };
  return html`
    <label class="field" title=${title ?? nothing}>
      <span>${label}</span>
      <input type="number" name=${name} inputmode="decimal" step=${step} min=${min ?? nothing}
        placeholder=${placeholder ?? nothing} .value=${value === null ? '' : String(value)} @change=${changed}>
    </label>`;
}

export function checkField(name: string, label: string, checked: boolean, change: (checked: boolean) => void, title?: string): TemplateResult {
  return html`
    <label class="check" title=${title ?? nothing}>
      <input type="checkbox" name=${name} .checked=${checked} @change=${(event: Event) => change((event.target as HTMLInputElement).checked)}>
      <span>${label}</span>
    </label>`;
}

/** A choice among a few, all visible. */
export function segments<T extends string>(
  name: string, legend: string, options: readonly (readonly [value: T, label: string])[], value: T, change: (value: T) => void,
): TemplateResult {
  return html`
    <fieldset class="segments">
      <legend>${legend}</legend>
      <div>
        ${options.map(([option, label]) => html`
          <label>
            <input type="radio" name=${name} value=${option} .checked=${option === value} @change=${() => change(option)}>
            <span>${label}</span>
          </label>`)}
      </div>
    </fieldset>`;
}

export function selectField<T extends string>(
  name: string, label: string, options: readonly (readonly [value: T, label: string])[], value: T, change: (value: T) => void,
): TemplateResult {
  return html`
    <label class="field">
      <span>${label}</span>
      <select name=${name} @change=${(event: Event) => change((event.target as HTMLSelectElement).value as T)}>
        ${options.map(([option, text]) => html`<option value=${option} .selected=${option === value}>${text}</option>`)}
      </select>
    </label>`;
}
