import type { Format } from './format.ts';
import type { Language } from './language.ts';

/** The largest amount that the services take, in centavos. */
export const MAX_AMOUNT_MINOR = 9_007_199_254_740_991n;

/** How people write amounts: 1.234,56 and 1,234.56; groups of thousands are whole or left out. */
const WRITTEN: Readonly<Record<Language, RegExp>> = {
  'pt-BR': /^(?<reais>\d{1,3}(?:\.\d{3})+|\d+)(?:,(?<centavos>\d{1,2}))?$/,
  en: /^(?<reais>\d{1,3}(?:,\d{3})+|\d+)(?:\.(?<centavos>\d{1,2}))?$/,
};

/** An amount in reais as people write it in their language, R$ or not, in centavos; undefined when it is none. */
export function parseReais(language: Language, text: string): bigint | undefined {
  const bare = text.trim().replace(/^R\$/i, '').trim();
  const { reais, centavos = '' } = WRITTEN[language].exec(bare)?.groups ?? {};
  return reais === undefined ? undefined : BigInt(reais.replace(/\D/g, '') + centavos.padEnd(2, '0'));
}

/** An amount in centavos as people type it, for `parseReais` to read: 1.234,56. */
export function typedReais(format: Format, amountMinor: bigint): string {
  return format.money(amountMinor).replace(/^R\$\s*/, '');
}
