import { ERROR_DOCS_PATH } from '../problems/problem.ts';

/** The languages of the guides; addresses in the first one do not name it. */
export const GUIDE_LANGUAGES = ['en', 'pt-BR'] as const;

export type GuideLanguage = (typeof GUIDE_LANGUAGES)[number];

/** The path of the reference with the guides in each language; Scalar serves it with a trailing slash. */
export const REFERENCE_PATHS: Readonly<Record<GuideLanguage, `/${string}`>> = {
  en: '/docs',
  'pt-BR': '/docs/pt-br',
};

/** The path of the OpenAPI document that the reference shows: they differ only in the guides, its description. */
export const DOCUMENT_PATHS: Readonly<Record<GuideLanguage, string>> = {
  en: '/openapi.json',
  'pt-BR': '/docs/pt-br/openapi.json',
};

/** The path of the page that explains each error. The `type` of every problem has the one in English. */
export const ERROR_PAGE_PATHS: Readonly<Record<GuideLanguage, `/${string}`>> = {
  en: ERROR_DOCS_PATH,
  'pt-BR': `${REFERENCE_PATHS['pt-BR']}/errors`,
};

/**
 * The id of a heading in the reference, without accents, since browsers would encode them in addresses. `api-1` is
 * Scalar's name for the only document of a page, which addresses leave out. The page gets the source of this function,
 * so it must not refer to anything outside.
 */
export const headingId = ({ slug = '' }: { slug?: string }): string =>
  `api-1/description/${slug.normalize('NFD').replace(/[\u0300-\u036f]/g, '')}`;
