// The entry "heed/element" where there is no document, as in a server-side render: the names are there,
// and nothing is defined. The elements come to life in the browser.

export class HeedAttention {}
export class HeedLsh {}
export class HeedBuckets {}
export class HeedCell {}

export function useClient(): void {}
