import { describe, expect, it } from 'vitest';
import { splitText } from '../../../web/src/text/split.ts';
import type { Split } from '../../../web/src/text/split.ts';

const splits: readonly Split[] = ['bpe', 'characters', 'words'];
const texts = (tokens: readonly { text: string }[]) => tokens.map(({ text }) => text);

describe('splitText', () => {
  it.each(splits)('gives no token for an empty text (%s)', async (split) => {
    expect(await splitText('', split)).toEqual([]);
  });

  it.each(splits)('gives one token for one short word (%s)', async (split) => {
    expect(texts(await splitText(split === 'characters' ? 'a' : 'cat', split))).toHaveLength(1);
  });

  it('keeps an emoji joined of several, a flag and a combined letter as one character each', async () => {
    expect(texts(await splitText('👨‍👩‍👧‍👦🇩🇪e\u0301', 'characters'))).toEqual(['👨‍👩‍👧‍👦', '🇩🇪', 'e\u0301']);
  });

  it.each([
    ['emoji', 'Family 👨‍👩‍👧‍👦 flags 🇩🇪🇯🇵 👍🏽'], ['combining', 'cafe\u0301 a\u0300\u0301\u0302'], ['Arabic', 'الانتباه اختيار. السؤال يبحث'],
    ['Chinese', '注意力是值的加权平均。𠮷野家'], ['mathematical letters', '𝔘𝔫𝔦'], ['byte order mark', '\ufeffx'],
  ])('loses nothing of %s in BPE tokens and characters', async (_, text) => {
    expect(texts(await splitText(text, 'bpe')).join('')).toBe(text);
    expect(texts(await splitText(text, 'characters')).join('')).toBe(text);
  });

  it('splits a character into BPE tokens again after a text that ended inside none', async () => {
    const once = await splitText('𠮷', 'bpe');
    expect(await splitText('𠮷', 'bpe')).toEqual(once);
    expect(once.length).toBeGreaterThan(1);
  });

  it('finds words in languages with and without spaces, and leaves white space out', async () => {
    expect(texts(await splitText('The cat,  the\nmat.', 'words'))).toEqual(['The', 'cat', ',', 'the', 'mat', '.']);
    expect(texts(await splitText('السؤال يبحث', 'words'))).toEqual(['السؤال', 'يبحث']);
    expect((await splitText('注意力是值的加权平均', 'words')).length).toBeGreaterThan(3);
  });

  it('takes control tokens of the model as plain text', async () => {
    const tokens = await splitText('<|endoftext|>', 'bpe');
    expect(tokens.length).toBeGreaterThan(1);
    expect(texts(tokens).join('')).toBe('<|endoftext|>');
  });

  it.each(splits)('replaces a lone surrogate (%s)', async (split) => {
    expect(texts(await splitText('a\ud800', split)).join('')).toBe('a\ufffd');
  });

  it.each(['characters', 'words'] as const)('splits a long text into the %s that a single pass finds', async (split) => {
    const passage = 'Familie 👨‍👩‍👧‍👦🇩🇪🇯🇵 cafe\u0301; 注意力是值的加权平均. السؤال يبحث 3.14 don\'t ';
    const text = passage.repeat(120);
    const segmenter = new Intl.Segmenter('und', { granularity: split === 'words' ? 'word' : 'grapheme' });
    const expected = Array.from(segmenter.segment(text), ({ segment }) => segment).filter((piece) => split === 'characters' || piece.trim() !== '');
    expect(texts(await splitText(text, split))).toEqual(expected);
  });

  it('keeps a character of more than a thousand parts whole', async () => {
    const tall = `a${'\u0301'.repeat(5000)}`;
    expect(texts(await splitText(`x${tall}y`, 'characters'))).toEqual(['x', tall, 'y']);
  });

  it.each(splits)('splits a text of 100,000 tokens (%s)', async (split) => {
    const text = split === 'characters' ? 'e\u0301x'.repeat(50_000) : 'cat '.repeat(100_000).trimEnd();
    const tokens = await splitText(text, split);
    expect(tokens).toHaveLength(100_000);
  });
});
