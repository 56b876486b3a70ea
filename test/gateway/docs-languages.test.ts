import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parse } from 'node-html-parser';
import { afterAll, describe, expect, it } from 'vitest';
import { headingFragment } from '../../gateway/docs/guide-headings.ts';
import { GUIDES, guideSource } from '../../gateway/docs/guides.ts';
import { startGateways } from './gateway-harness.ts';
import { call } from './http-call.ts';

/** The guides in Portuguese are those in English, and are served beside them. */

const TRANSLATED = new URL('../../gateway/docs/pt-br/translated.json', import.meta.url);

const CODE_BLOCK = /^```.*?^```$/gms;
const FACT = /\{\{.+?\}\}/g;

/** What a translation keeps: the order of its parts, and everything that is code, a value or an address. */
function skeletonOf(guide: string) {
  const prose = guide.replaceAll(CODE_BLOCK, '');
  const inLines = prose.split('\n').flatMap((line) => /^(#+|\||- |\d+\.|<!--.*)/.exec(line)?.[0] ?? []);
  const sorted = (pattern: RegExp) => (prose.match(pattern) ?? []).sort();
  return {
    codeBlocks: guide.match(CODE_BLOCK),
    parts: inLines,
    code: sorted(/`[^`\n]+`/g),
    facts: sorted(FACT),
    addresses: sorted(/(?<=\]\()https?:[^)]+/g),
    links: sorted(/\]\(#/g).length,
  };
}

describe.each(GUIDES)('the guide %s', (name) => {
  const [english, portuguese] = [guideSource(name, 'en'), guideSource(name, 'pt-BR')];

  it('has the same code, values and outline in both languages', () => {
    expect(skeletonOf(portuguese)).toEqual(skeletonOf(english));
  });

  it('in Portuguese is a translation of the current English text', () => {
    const translated: Record<string, string> = JSON.parse(readFileSync(TRANSLATED, 'utf8'));
    const current = createHash('sha256').update(english).digest('hex').slice(0, 16);
    // When you have brought the translation up to date, write the new value into the file.
    expect({ [name]: translated[name] }).toEqual({ [name]: current });
  });
});

it('a heading has an address in each language', () => {
  expect(headingFragment('on-your-own-machine', 'en')).toBe('#description/on-your-own-machine');
  expect(headingFragment('on-your-own-machine', 'pt-BR')).toBe('#description/na-sua-propria-maquina');
  expect(() => headingFragment('na-sua-propria-maquina', 'en')).toThrow('no heading');
});

describe('the Portuguese reference', async () => {
  const gateways = await startGateways({ RATE_LIMIT_ADDRESS: '1000' });
  afterAll(() => gateways.close());
  const get = (path: string) => call(gateways.ports.test, path);
  /** What a page of errors says about each. */
  const entriesOf = async (path: string) =>
    parse((await get(path)).text)
      .querySelectorAll('section')
      .map((section) => ({
        id: section.id,
        examples: section.querySelectorAll('pre').map(({ text }) => text),
        links: section.querySelectorAll('a').map((link) => link.getAttribute('href')),
        texts: section.querySelectorAll('dd').map(({ text }) => text),
      }));

  it('differs from the English page only in the language of its guides', async () => {
    const page = await get((await get('/docs/pt-br')).headers.location!);
    expect(page.text).toContain('"/docs/pt-br/openapi.json"');
    expect(page.text).toContain('src="/docs/js/scalar.js"');
    const [english, portuguese] = [
      (await get('/openapi.json')).json,
      (await get('/docs/pt-br/openapi.json')).json,
    ];
    expect(portuguese.info.description).toContain('# Primeiros passos');
    expect(portuguese.info.description.match(/\{\{|<!--/g)).toBeNull();
    expect({
      ...portuguese,
      info: { ...portuguese.info, description: english.info.description },
    }).toEqual(english);
  });

  it('explains every error in Portuguese', async () => {
    const rowsOf = async (path: string) =>
      new Map<string, string>(
        (await get(path)).json.info.description
          .matchAll(/^\| \d+ \| \[`([A-Z_]+)`\]\(\S+\) \| (.+) \|$/gm)
          .map(([, code, meaning]: string[]) => [code, meaning]),
      );
    const [english, portuguese] = [await rowsOf('/openapi.json'), await rowsOf('/docs/pt-br/openapi.json')];
    expect([...portuguese.keys()]).toEqual([...english.keys()]);
    for (const [code, meaning] of portuguese) expect(meaning, code).not.toBe(english.get(code));
  });

  it('has a page about each error, with the examples of the English one, and both lead to each other', async () => {
    const pages = { en: '/docs/errors', 'pt-BR': '/docs/pt-br/errors' };
    const [english, portuguese] = await Promise.all(Object.values(pages).map(entriesOf));
    expect(portuguese!.map(({ id }) => id)).toEqual(english!.map(({ id }) => id));
    for (const [at, entry] of portuguese!.entries()) {
      const { id, examples, links, texts } = english![at]!;
      expect(entry.examples, id).toEqual(examples);
      expect([entry.links, links]).toEqual([[`${pages.en}#${id}`], [`${pages['pt-BR']}#${id}`]]);
      // The status and the names of headers are the same in every language.
      expect(
        entry.texts.slice(1, 4).filter((text) => texts.includes(text)),
        id,
      ).toEqual([]);
    }
    const { description } = (await get('/docs/pt-br/openapi.json')).json.info;
    expect(description).toContain(`(${pages['pt-BR']}#RATE_LIMITED)`);
  });
});
