import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { ACCOUNT_TIME_ZONE, civilDateAt, daysBetween } from '../../../services/platform/civil-date.ts';
import type { Language, Texts } from './language.ts';

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;
const KILOBYTE = 1_024;
const MEGABYTE = 1_024 * KILOBYTE;
const THOUSAND_MINOR = 100_000n;

function formattersOf(language: Language) {
  const reais = { style: 'currency', currency: 'BRL' } as const;
  const twoDecimals = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  const utc = { timeZone: 'UTC' } as const;
  const brasilia = { timeZone: ACCOUNT_TIME_ZONE } as const;
  const number = (options?: Intl.NumberFormatOptions) => new Intl.NumberFormat(language, options);
  const size = (unit: string) => number({ style: 'unit', unit, maximumFractionDigits: 1 });
  const date = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(language, options);
  return {
    money: number(reais),
    compactMoney: number({ ...reais, notation: 'compact', maximumFractionDigits: 1 }),
    number: number(),
    percent: number({ style: 'percent', ...twoDecimals }),
    megabytes: size('megabyte'),
    kilobytes: size('kilobyte'),
    date: date({ dateStyle: 'medium', ...utc }),
    month: date({ month: 'long', year: 'numeric', ...utc }),
    shortMonth: date({ month: 'short', year: 'numeric', ...utc }),
    // Short English dates put the month first, which readers used to day-first dates get wrong.
    dateTime: date({ dateStyle: language === 'en' ? 'medium' : 'short', timeStyle: 'medium', ...brasilia }),
    time: date({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...brasilia }),
    relative: new Intl.RelativeTimeFormat(language, { numeric: 'auto' }),
    numericRelative: new Intl.RelativeTimeFormat(language),
  };
}

/** Formats amounts, dates and times in a language. */
export class Format {
  readonly #intl: ReturnType<typeof formattersOf>;

  constructor(language: Language) {
    this.#intl = formattersOf(language);
  }

  /** An amount in centavos as reais: R$ 1.234,56. */
  money(amountMinor: bigint): string {
    const digits = (amountMinor < 0n ? -amountMinor : amountMinor).toString().padStart(3, '0');
    const decimal = `${amountMinor < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
    // As a string: a double cannot represent every amount exactly.
    return this.#intl.money.format(decimal as Intl.StringNumericLiteral);
  }

  /** An abbreviated amount in centavos: R$ 12,3 mil; R$ 651,40. */
  compactMoney(amountMinor: bigint): string {
    if (amountMinor < THOUSAND_MINOR) return this.money(amountMinor);
    return this.#intl.compactMoney.format(Number(amountMinor) / 100);
  }

  /** A count: 1.234. */
  number(value: number | bigint): string {
    return this.#intl.number.format(value);
  }

  /** A ratio as a percentage: 2,53%. */
  percent(ratio: number): string {
    return this.#intl.percent.format(ratio);
  }

  /** The size of a file: 1,2 MB; 340 kB. */
  fileSize(bytes: number): string {
    if (bytes >= MEGABYTE) return this.#intl.megabytes.format(bytes / MEGABYTE);
    return this.#intl.kilobytes.format(Math.ceil(bytes / KILOBYTE));
  }

  /** A date, given as 2026-11-21. */
  date(civilDate: string): string {
    return this.#intl.date.format(new Date(`${civilDate}T00:00:00Z`));
  }

  /** A month in full, November 2026, given as 2026-11. */
  month(yearMonth: string): string {
    return this.#intl.month.format(new Date(`${yearMonth}-01T00:00:00Z`));
  }

  /** An abbreviated month, Nov 2026, given as 2026-11. */
  shortMonth(yearMonth: string): string {
    return this.#intl.shortMonth.format(new Date(`${yearMonth}-01T00:00:00Z`)).replaceAll(' de ', ' ');
  }

  /** A time in Brasília time, to the second; empty for undefined. */
  dateTime(at: Timestamp | undefined): string {
    return at ? this.#intl.dateTime.format(timestampDate(at)) : '';
  }

  /** A time of the day in Brasília time: 14:00. */
  timeOfDay(at: Timestamp): string {
    return this.#intl.time.format(timestampDate(at));
  }

  /**
   * The distance from now in the largest unit that fits: in 3 days, 5 minutes ago. From a day on it compares calendar
   * dates in Brasília, so that "tomorrow" is correct.
   */
  relative(at: Timestamp, now: Date = new Date()): string {
    const seconds = Math.trunc((timestampDate(at).getTime() - now.getTime()) / 1_000);
    const distance = Math.abs(seconds);
    if (distance < MINUTE_S) return this.#intl.relative.format(seconds, 'second');
    if (distance < HOUR_S) return this.#intl.relative.format(Math.trunc(seconds / MINUTE_S), 'minute');
    if (distance < DAY_S) return this.#intl.relative.format(Math.trunc(seconds / HOUR_S), 'hour');
    const days = daysBetween(civilDateAt(now), civilDateAt(timestampDate(at)));
    // Only yesterday, today and tomorrow in words: Portuguese would have "depois de amanhã" for 2 days.
    return (Math.abs(days) < 2 ? this.#intl.relative : this.#intl.numericRelative).format(days, 'day');
  }
}

const FORMATS: Texts<Format> = { 'pt-BR': new Format('pt-BR'), en: new Format('en') };

/** The shared formatter of a language. */
export const formatOf = (language: Language): Format => FORMATS[language];
