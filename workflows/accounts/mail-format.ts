import { ACCOUNT_TIME_ZONE } from '../../services/platform/civil-date.ts';

export type Language = 'pt-BR' | 'en';

const TIME_ZONE_NAME = { 'pt-BR': 'horário de Brasília', en: 'Brasília time' };

/** A time in Brasília time, which it names. */
export function formatTime(language: Language, at: Date): string {
  const format = new Intl.DateTimeFormat(language, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: ACCOUNT_TIME_ZONE,
  });
  return `${format.format(at)} (${TIME_ZONE_NAME[language]})`;
}

/** An amount in centavos as reais. */
export function formatMoney(language: Language, amountMinor: bigint): string {
  const digits = String(amountMinor).padStart(3, '0');
  const decimal = `${digits.slice(0, -2)}.${digits.slice(-2)}`;
  const format = new Intl.NumberFormat(language, { style: 'currency', currency: 'BRL' });
  return format.format(decimal as Intl.StringNumericLiteral);
}

/** Line breaks, other control characters, and those that change the direction of text. */
const NOT_IN_A_LINE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;

/** A name that people chose, as part of a line: it must not look like another line of the mail, or turn the rest of its own around. */
export const inOneLine = (name: string): string => name.replace(NOT_IN_A_LINE, ' ').trim();
