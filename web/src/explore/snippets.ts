// What an author pastes to show the present state elsewhere: elements, frames, posters, and what the
// usual tools for pages and notebooks take. Pure text.

import type { WeightKind } from '../core/types.ts';
import { flagNames, writeWish } from './url-state.ts';
import { defaultText } from './wish.ts';
import type { Wish } from './wish.ts';

export type Show = 'attention' | 'lsh' | 'buckets' | 'cell';
export type SnippetId = 'html' | 'iframe' | 'markdown' | 'hugo' | 'react' | 'vue' | 'observable' | 'jupyter' | 'poster';

export interface Snippet {
  readonly id: SnippetId;
  readonly title: string;
  readonly code: string;
  /** What else it takes. */
  readonly note: string;
}

export interface Embedding {
  /** Address of the site, with a slash at its end. */
  readonly site: string;
  readonly show: Show;
  readonly mechanism: WeightKind;
  readonly wish: Wish;
  /** Where the tensors are, when the input is no text: the address of a sample's file, or what stands for it. */
  readonly src: string;
  readonly title: string;
}

type Attributes = readonly (readonly [name: string, value: string])[];

/** Heights that show everything without scrolling, in pixels. */
const heights: Readonly<Record<Show, number>> = { attention: 560, lsh: 640, buckets: 400, cell: 560 };

/** The state as attributes; what is on is "true", because some Markdown takes quoted values only. */
export function attributesOf({ show, mechanism, wish, src }: Embedding): Attributes {
  const { input, settings, look } = wish;
  const fields = new URLSearchParams(writeWish({ input, settings, look: { ...look, picture: 'exact' } }));
  if (input?.kind === 'text') {
    fields.set('text', input.text);
    fields.set('split', input.split);
  } else {
    fields.delete('sample');
    fields.delete('file');
    for (const name of ['q', 'k', 'v']) if (fields.get(name) === '') fields.delete(name);
    fields.set('src', src);
  }
  if (show === 'attention' && mechanism !== 'exact') fields.set('mechanism', mechanism);
  if (show === 'lsh' && mechanism !== 'exact') fields.set('picture', mechanism);
  fields.set('controls', '1');
  return [...fields].map(([name, value]) => [name, name === 'controls' || flagNames.includes(name) ? 'true' : value] as const);
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\n', '&#10;').replaceAll('\r', '&#13;');
}

const inHtml = (attributes: Attributes) => attributes.map(([name, value]) => ` ${name}="${escapeHtml(value)}"`).join('');

/** For brackets of Markdown. */
const inMarkdown = (text: string) => text.replace(/[\\[\]]/g, '\\$&').replace(/\s+/g, ' ');

/** The self-contained page with the state. */
export function frameAddress(embedding: Embedding): string {
  const fields = [['show', embedding.show], ...attributesOf(embedding), ['page', embedding.site]];
  return `${embedding.site}heed/embed.html#${new URLSearchParams(fields.map(([name, value]) => [name!, value!]))}`;
}

/** All ways, in the order of how many will want them. */
export function snippetsOf(embedding: Embedding): readonly Snippet[] {
  const { site, show, title, wish } = embedding;
  const attributes = attributesOf(embedding);
  const tag = `heed-${show}`;
  const height = heights[show];
  const script = `${site}heed/element/index.js`;
  const page = `${site}#${writeWish(wish)}`;
  const style = `display:block;height:${height}px`;
  const link = `<a href="${escapeHtml(page)}">${escapeHtml(title)}</a>`;
  const element = `<${tag}${inHtml([...attributes, ['page', site]])} style="${style}">${link}</${tag}>`;
  const scriptTag = `<script type="module" src="${escapeHtml(script)}"></script>`;
  const bpe = wish.input?.kind === 'text' && wish.input.split === 'bpe';
  const object = JSON.stringify(Object.fromEntries([...attributes, ['page', site]]), null, 2);
  const jsx = [...attributes, ['page', site] as const].map(([name, value]) => `\n      ${name}={${JSON.stringify(value)}}`).join('');
  const indent = (text: string, by: string) => text.replaceAll('\n', `\n${by}`);
  return [
    {
      id: 'html', title: 'HTML',
      code: `${scriptTag}\n${element}\n`,
      note: 'For any page. The script once, the element as often as you like; the link inside shows where there is no JavaScript.',
    },
    {
      id: 'iframe', title: 'Frame',
      code: `<iframe src="${escapeHtml(frameAddress(embedding))}" title="${escapeHtml(`heed: ${title}`)}" width="100%" height="${height}" sandbox="allow-scripts allow-popups" loading="lazy" style="border:0"></iframe>\n`,
      note: `For pages that allow no scripts of yours. The frame is one file; save it and it works offline${bpe ? ', except that BPE tokens need bpe.js beside it' : ''}.`,
    },
    {
      id: 'markdown', title: 'Markdown',
      code: `<div>\n${scriptTag}\n${element}\n</div>\n`,
      note: 'For Markdown that lets HTML through, such as GitHub Pages, Jekyll and Quarto.',
    },
    {
      id: 'hugo', title: 'Hugo',
      code: `{{< heed show="${show}"${attributes.map(([name, value]) => ` ${name}="${escapeHtml(value).replaceAll('\\', '&#92;')}"`).join('')} page="${escapeHtml(site)}" >}}\n`,
      note: `Needs the shortcode of this site as layouts/shortcodes/heed.html:\n${hugoShortcode(script)}`,
    },
    {
      id: 'react', title: 'React',
      code: `import 'heed/element';\n\nexport default function Attention() {\n  return (\n    <${tag}${jsx}\n      style={{ display: 'block', height: ${height} }}\n    />\n  );\n}\n`,
      note: 'React 19, with the package heed.',
    },
    {
      id: 'vue', title: 'Vue',
      code: `<script setup>\nimport 'heed/element';\n</script>\n\n<template>\n  <${tag}${inHtml([...attributes, ['page', site]])} style="${style}"></${tag}>\n</template>\n`,
      note: "Vue 3, with the package heed and compilerOptions: { isCustomElement: (tag) => tag.startsWith('heed-') }.",
    },
    {
      id: 'observable', title: 'Observable',
      code: `{\n  await import(${JSON.stringify(script)});\n  const element = document.createElement("${tag}");\n  const attributes = ${indent(object, '  ')};\n  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);\n  element.style.cssText = "${style}";\n  return element;\n}\n`,
      note: 'One cell of a notebook.',
    },
    {
      id: 'jupyter', title: 'Jupyter',
      code: `import anywidget\n\nclass Heed(anywidget.AnyWidget):\n    _esm = r"""\nimport ${JSON.stringify(script)};\nexport default {\n  render({ el }) {\n    const element = document.createElement("${tag}");\n    const attributes = ${indent(object, '    ')};\n    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);\n    element.style.cssText = "${style}";\n    el.append(element);\n  },\n};\n"""\n\nHeed()\n`,
      note: 'Jupyter, Colab and VS Code, through anywidget.',
    },
    {
      id: 'poster', title: 'Poster',
      code: `[![${inMarkdown(`heed: ${title}`)}](${tag}.png)](${page.replaceAll('(', '%28').replaceAll(')', '%29')})\n`,
      note: `A picture with a link, for newsletters and read-me files. Save the picture as PNG, and put it beside your text as ${tag}.png.`,
    },
  ];
}

/** layouts/shortcodes/heed.html. Values come as HTML already: Hugo's strings know no line breaks. */
export function hugoShortcode(script: string): string {
  return `{{- $show := .Get "show" | default "attention" -}}
{{- $attributes := "" -}}
{{- range $name, $value := .Params -}}
  {{- if ne $name "show" -}}{{- $attributes = printf "%s %s=\\"%s\\"" $attributes $name $value -}}{{- end -}}
{{- end -}}
{{ printf "<script type=\\"module\\" src=\\"%s\\"></script><heed-%s%s style=\\"display:block;height:35rem\\"></heed-%s>" ${JSON.stringify(script)} $show $attributes $show | safeHTML }}
`;
}

/** Whether a snippet shows the state without help: a file of the reader's own is not part of it. */
export function isSelfContained({ input }: Wish): boolean {
  return input?.kind !== 'file';
}

/** A short name of the input. */
export function titleOf({ input }: Wish, sampleTitle: string): string {
  if (input?.kind === 'file') return input.name;
  if (input?.kind !== 'text') return sampleTitle;
  const { text } = input.text.trim() === '' ? defaultText : input;
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
