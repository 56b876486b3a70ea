import type { FastifyRequest } from 'fastify';

/** The languages of the dashboard; the first is the default. */
export const LANGUAGES = ['pt-BR', 'en'] as const;

export type Language = (typeof LANGUAGES)[number];

/** What each language calls itself. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { 'pt-BR': 'Português', en: 'English' };

/** Texts in every language. */
export type Texts<T> = Readonly<Record<Language, T>>;

/** The cookie with the chosen language; it does not identify anyone. */
export const LANGUAGE_COOKIE = 'language';

/** The chosen language, else the first of the browser's languages that the dashboard has. */
export function languageOf({ cookies, headers }: Pick<FastifyRequest, 'cookies' | 'headers'>): Language {
  const chosen = LANGUAGES.find((language) => language === cookies[LANGUAGE_COOKIE]);
  if (chosen) return chosen;
  const ranges = (headers['accept-language'] ?? '').toLowerCase().split(',');
  const known = ranges.map((range) => range.trim().slice(0, 2)).find((range) => ['pt', 'en'].includes(range));
  return known === 'en' ? 'en' : 'pt-BR';
}
