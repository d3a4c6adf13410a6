// Token texts as labels: white space made visible, nothing invisible left.

const visible = new Map([[' ', '␣'], ['\n', '⏎'], ['\t', '⇥'], ['\r', '␍'], ['\u00a0', '⍽']]);

/** A label that can be seen. A piece of a character (empty text) is shown as "·". */
export function tokenLabel(text: string): string {
  if (text === '') return '·';
  const shown = text.replace(/[ \n\t\r\u00a0]/g, (space) => visible.get(space)!);
  // Format characters alone (a joiner, a direction mark) have no picture; their code point has.
  return /^[\p{Cf}\p{Cc}\p{Mn}]+$/u.test(shown)
    ? Array.from(shown, (c) => `U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`).join(' ')
    : shown;
}
