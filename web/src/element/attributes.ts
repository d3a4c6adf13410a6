// Attributes of the elements: which there are, how properties reflect them, and what they ask for. They
// are the fields of the page's address, and read by the same code.

import { HeedError } from '../core/errors.ts';
import { fieldNames, flagNames, readWish } from '../explore/url-state.ts';
import type { Wish } from '../explore/wish.ts';

/** On or off, beside those of the address. */
const ownFlags = ['controls'];
const ownTexts = ['src', 'q', 'k', 'v', 'loading', 'page', 'mechanism'];
const numbers = new Set(['heads', 'dim', 'text-seed', 'head', 'batch', 'scale', 'left', 'right', 'cap', 'rounds', 'buckets', 'chunk', 'seed', 'round']);
const flags = new Set([...flagNames, ...ownFlags]);

export const attributeNames: readonly string[] = [...fieldNames, ...ownFlags, ...ownTexts];

/** "true-buckets" is the property trueBuckets. */
export function propertyOf(attribute: string): string {
  return attribute.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

function isOn(value: string | null): boolean {
  return value !== null && value !== 'false' && value !== '0';
}

/** Gives a class a property for each attribute: a boolean, a number or a string, null when it is not there. */
export function reflectAttributes(prototype: HTMLElement): void {
  for (const name of attributeNames) {
    const isFlag = flags.has(name), isNumber = numbers.has(name);
    Object.defineProperty(prototype, propertyOf(name), {
      configurable: true,
      enumerable: true,
      get(this: HTMLElement) {
        const value = this.getAttribute(name);
        if (isFlag) return isOn(value);
        return value === null || !isNumber ? value : Number(value);
      },
      set(this: HTMLElement, value: unknown) {
        if (value === null || value === undefined || value === false) this.removeAttribute(name);
        else this.setAttribute(name, isFlag ? '' : String(value));
      },
    });
  }
}

/** Properties that were set before the class was there, now through its setters. */
export function upgradeProperties(element: HTMLElement, names: readonly string[]): void {
  for (const name of names) {
    if (!Object.hasOwn(element, name)) continue;
    const bag = element as unknown as Record<string, unknown>;
    const value = bag[name];
    delete bag[name];
    bag[name] = value;
  }
}

/** What the attributes ask for. Throws HeedError that names the first that cannot be read. */
export function wishOf(element: HTMLElement): Wish {
  // Without a text of its own, the fields of a text still say how one in a file is read.
  const fields = new URLSearchParams({ split: 'words', text: '' });
  for (const name of fieldNames) {
    const value = element.getAttribute(name);
    if (value !== null) fields.set(name, flagNames.includes(name) ? (isOn(value) ? '1' : '0') : value);
  }
  const mechanism = element.getAttribute('mechanism');
  if (mechanism !== null) fields.set('picture', mechanism);
  const { wish, problems } = readWish(fields);
  if (problems[0] === undefined) return wish;
  const [, field, received, expected] = /^(.*?): received (.*), expected (.*)$/s.exec(problems[0])!;
  throw new HeedError({ code: 'invalid-value', field: field === 'picture' ? 'mechanism' : field!, received: received!, expected: expected! });
}
