// What can be wrong with a tensor file, as data a page can show.

export type TensorFileErrorCode =
  | 'unknown-format'
  | 'truncated'
  | 'malformed'
  | 'too-large'
  | 'unsupported'
  | 'out-of-range'
  | 'no-such-tensor'
  | 'wrong-shape';

export class TensorFileError extends Error {
  override readonly name = 'TensorFileError';
  readonly code: TensorFileErrorCode;
  /** The part of the file at fault, for instance "header.shape" or "query". */
  readonly field: string;
  readonly received: string;
  readonly expected: string;

  constructor(code: TensorFileErrorCode, field: string, received: string, expected: string) {
    super(`${field}: received ${received}, expected ${expected}`);
    this.code = code;
    this.field = field;
    this.received = received;
    this.expected = expected;
  }
}

/** A text from a file, short enough for a message. */
export function excerpt(text: string): string {
  const start = text.length > 60 ? `${text.slice(0, 57)}...` : text;
  return start.replace(/[\u0000-\u001f\u007f]/g, '?');
}
