import { GUIDES, guideSource } from './guides.ts';
import { GUIDE_LANGUAGES, type GuideLanguage, headingId } from './languages.ts';

const CODE_BLOCK = /^```.*?^```$/gms;

/**
 * The fragments of all headings in reading order, as the reference generates them: `#description/getting-started`.
 */
function fragmentsIn(language: GuideLanguage): string[] {
  const headings = GUIDES.flatMap((name) => [
    ...guideSource(name, language)
      .replaceAll(CODE_BLOCK, '')
      .matchAll(/^#+ (.+)$/gm),
  ]);
  return headings.map(([, heading = '']) => {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    return headingId({ slug }).slice(headingId({}).length);
  });
}

/** Every heading in all languages: the guides of all languages have the same headings in the same order. */
const HEADINGS: Readonly<Record<GuideLanguage, readonly string[]>> = {
  en: fragmentsIn('en'),
  'pt-BR': fragmentsIn('pt-BR'),
};

/**
 * The fragment of a heading's address in a language, by the end of its fragment in English: `getting-started`.
 * @throws TypeError if there is no such heading
 */
export function headingFragment(heading: string, language: GuideLanguage): string {
  const fragment = HEADINGS[language][HEADINGS[GUIDE_LANGUAGES[0]].indexOf(heading)];
  if (fragment === undefined) throw new TypeError(`the guides have no heading ${heading}`);
  return `#description/${fragment}`;
}
