import type { FastifyRequest } from 'fastify';

/** The languages of the dashboard; the first is Brazil's and the default. */
export const LANGUAGES = ['pt-BR', 'en'] as const;

export type Language = (typeof LANGUAGES)[number];

/** The same texts in each language. */
export type Texts<T> = Readonly<Record<Language, T>>;

/** What is picked of texts, in each language. */
export const inEach = <T, U>(texts: Texts<T>, pick: (texts: T) => U): Texts<U> => ({
  'pt-BR': pick(texts['pt-BR']),
  en: pick(texts.en),
});

/** Holds the language that somebody chose; it says nothing of who she is. */
export const LANGUAGE_COOKIE = 'language';

/** The language that was chosen, else the first of the browser's that there is. */
export function languageOf({ cookies, headers }: Pick<FastifyRequest, 'cookies' | 'headers'>): Language {
  const chosen = LANGUAGES.find((language) => language === cookies[LANGUAGE_COOKIE]);
  if (chosen) return chosen;
  const ranges = (headers['accept-language'] ?? '').toLowerCase().split(',');
  const known = ranges.map((range) => range.trim().slice(0, 2)).find((range) => ['pt', 'en'].includes(range));
  return known === 'en' ? 'en' : 'pt-BR';
}
