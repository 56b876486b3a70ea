import type { Format } from './format.ts';
import type { Language } from './language.ts';

/** 1.234,56 and 1,234.56; separators of thousands are all present or all absent. */
const PATTERNS: Readonly<Record<Language, RegExp>> = {
  'pt-BR': /^(?<reais>\d{1,3}(?:\.\d{3})+|\d+)(?:,(?<centavos>\d{1,2}))?$/,
  en: /^(?<reais>\d{1,3}(?:,\d{3})+|\d+)(?:\.(?<centavos>\d{1,2}))?$/,
};

/** Parses an amount in reais, with or without R$, to centavos; undefined when it is not an amount. */
export function parseReais(language: Language, text: string): bigint | undefined {
  const bare = text.trim().replace(/^R\$/i, '').trim();
  const { reais, centavos = '' } = PATTERNS[language].exec(bare)?.groups ?? {};
  return reais === undefined ? undefined : BigInt(reais.replace(/\D/g, '') + centavos.padEnd(2, '0'));
}

/** An amount in centavos in the form that `parseReais` reads: 1.234,56. */
export function typedReais(format: Format, amountMinor: bigint): string {
  return format.money(amountMinor).replace(/^R\$\s*/, '');
}
