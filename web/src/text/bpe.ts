// The byte pair encoding o200k, about 2 MB: a file of its own, fetched when it is asked for.

export { default } from 'gpt-tokenizer/encoding/o200k_base';
