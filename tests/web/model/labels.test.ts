import { describe, expect, test } from 'vitest';
import { toCsv } from '../../../web/src/model/csv.ts';
import { labelledIndices, shortLabel, tokenLabel } from '../../../web/src/model/labels.ts';

test('labels keep their distance and stand at round positions', () => {
  for (const [begin, end, pixels] of [[0, 10, 300], [0, 360, 300], [37.5, 91.2, 200], [0, 10_000, 280]] as const) {
    const { step, indices } = labelledIndices([begin, end], pixels, 12);
    expect((step * pixels) / (end - begin)).toBeGreaterThanOrEqual(12);
    expect(String(step)).toMatch(/^[125]0*$/);
    for (const i of indices) expect(i % step).toBe(0);
    expect(indices.length).toBeGreaterThan(1);
  }
  expect(labelledIndices([0, 10], 300, 12).indices).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('an entry cut by an edge keeps its label while its middle is seen', () => {
  expect(labelledIndices([2.3, 6.7], 300, 12).indices).toEqual([2, 3, 4, 5, 6]);
  expect(labelledIndices([2.7, 6.3], 300, 12).indices).toEqual([3, 4, 5]);
});

test('labels are cut between characters as readers see them, and show their white space', () => {
  expect(shortLabel('attention', 5)).toBe('atte…');
  expect(shortLabel('👨‍👩‍👧‍👦👍🏽🇩🇪', 3)).toBe('👨‍👩‍👧‍👦👍🏽🇩🇪');
  expect(shortLabel('👨‍👩‍👧‍👦👍🏽🇩🇪é', 3)).toBe('👨‍👩‍👧‍👦👍🏽…');
  expect(shortLabel(' the\n', 8)).toBe('␣the⏎');
});

test('CSV quotes what has to be quoted', () => {
  expect(toCsv(['a', 'b'], [['x,y', 1], ['say "hi"', 2], ['two\nlines', 3]])).toBe('a,b\r\n"x,y",1\r\n"say ""hi""",2\r\n"two\nlines",3\r\n');
});

describe('tokenLabel', () => {
  test('shows white space, pieces of characters and invisible characters', () => {
    expect(tokenLabel(' the')).toBe('␣the');
    expect(tokenLabel('\n\n')).toBe('⏎⏎');
    expect(tokenLabel('')).toBe('·');
    expect(tokenLabel('\u200d')).toBe('U+200D');
    expect(tokenLabel('\u0301')).toBe('U+0301');
    expect(tokenLabel('é')).toBe('é');
  });
});
