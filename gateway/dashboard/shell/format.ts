import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { ACCOUNT_TIME_ZONE, civilDateAt, daysBetween } from '../../../services/platform/civil-date.ts';
import type { Language } from './language.ts';

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;
const KILOBYTE = 1_024;
const MEGABYTE = 1_024 * KILOBYTE;
const THOUSAND_MINOR = 100_000n;

/** Formats amounts, dates and times in a language. */
export class Format {
  readonly #money: Intl.NumberFormat;
  readonly #compactMoney: Intl.NumberFormat;
  readonly #number: Intl.NumberFormat;
  readonly #percent: Intl.NumberFormat;
  readonly #megabytes: Intl.NumberFormat;
  readonly #kilobytes: Intl.NumberFormat;
  readonly #date: Intl.DateTimeFormat;
  readonly #month: Intl.DateTimeFormat;
  readonly #shortMonth: Intl.DateTimeFormat;
  readonly #dateTime: Intl.DateTimeFormat;
  readonly #time: Intl.DateTimeFormat;
  readonly #relative: Intl.RelativeTimeFormat;
  readonly #numericRelative: Intl.RelativeTimeFormat;

  constructor(language: Language) {
    const reais = { style: 'currency', currency: 'BRL' } as const;
    this.#money = new Intl.NumberFormat(language, reais);
    this.#compactMoney = new Intl.NumberFormat(language, {
      ...reais,
      notation: 'compact',
      maximumFractionDigits: 1,
    });
    this.#number = new Intl.NumberFormat(language);
    this.#percent = new Intl.NumberFormat(language, {
      style: 'percent',
      minimumFractionDigits: 2,
      maximumFractionDigits: 2,
    });
    const size = (unit: string) =>
      new Intl.NumberFormat(language, { style: 'unit', unit, maximumFractionDigits: 1 });
    [this.#megabytes, this.#kilobytes] = [size('megabyte'), size('kilobyte')];
    const utc = { timeZone: 'UTC' } as const;
    this.#date = new Intl.DateTimeFormat(language, { dateStyle: 'medium', ...utc });
    this.#month = new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric', ...utc });
    this.#shortMonth = new Intl.DateTimeFormat(language, { month: 'short', year: 'numeric', ...utc });
    this.#dateTime = new Intl.DateTimeFormat(language, {
      // Short English dates put the month first, which readers used to day-first dates get wrong.
      dateStyle: language === 'en' ? 'medium' : 'short',
      timeStyle: 'medium',
      timeZone: ACCOUNT_TIME_ZONE,
    });
    this.#time = new Intl.DateTimeFormat(language, {
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      timeZone: ACCOUNT_TIME_ZONE,
    });
    this.#relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
    this.#numericRelative = new Intl.RelativeTimeFormat(language);
  }

  /** An amount in centavos as reais: R$ 1.234,56. */
  money(amountMinor: bigint): string {
    const digits = (amountMinor < 0n ? -amountMinor : amountMinor).toString().padStart(3, '0');
    const decimal = `${amountMinor < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
    // As a string: a double cannot represent every amount exactly.
    return this.#money.format(decimal as Intl.StringNumericLiteral);
  }

  /** An abbreviated amount in centavos: R$ 12,3 mil; R$ 651,40. */
  compactMoney(amountMinor: bigint): string {
    if (amountMinor < THOUSAND_MINOR) return this.money(amountMinor);
    return this.#compactMoney.format(Number(amountMinor) / 100);
  }

  /** A count: 1.234. */
  number(value: number | bigint): string {
    return this.#number.format(value);
  }

  /** A ratio as a percentage: 2,53%. */
  percent(ratio: number): string {
    return this.#percent.format(ratio);
  }

  /** The size of a file: 1,2 MB; 340 kB. */
  fileSize(bytes: number): string {
    if (bytes >= MEGABYTE) return this.#megabytes.format(bytes / MEGABYTE);
    return this.#kilobytes.format(Math.ceil(bytes / KILOBYTE));
  }

  /** A date, given as 2026-11-21. */
  date(civilDate: string): string {
    return this.#date.format(new Date(`${civilDate}T00:00:00Z`));
  }

  /** A month in full, November 2026, given as 2026-11. */
  month(yearMonth: string): string {
    return this.#month.format(new Date(`${yearMonth}-01T00:00:00Z`));
  }

  /** An abbreviated month, Nov 2026, given as 2026-11. */
  shortMonth(yearMonth: string): string {
    return this.#shortMonth.format(new Date(`${yearMonth}-01T00:00:00Z`)).replaceAll(' de ', ' ');
  }

  /** A time in Brasília time, to the second; empty for undefined. */
  dateTime(at: Timestamp | undefined): string {
    return at ? this.#dateTime.format(timestampDate(at)) : '';
  }

  /** A time of the day in Brasília time: 14:00. */
  timeOfDay(at: Timestamp): string {
    return this.#time.format(timestampDate(at));
  }

  /**
   * The distance from now in the largest unit that fits: in 3 days, 5 minutes ago. From a day on it compares calendar
   * dates in Brasília, so that "tomorrow" is correct.
   */
  relative(at: Timestamp, now: Date = new Date()): string {
    const seconds = Math.trunc((timestampDate(at).getTime() - now.getTime()) / 1_000);
    const distance = Math.abs(seconds);
    if (distance < MINUTE_S) return this.#relative.format(seconds, 'second');
    if (distance < HOUR_S) return this.#relative.format(Math.trunc(seconds / MINUTE_S), 'minute');
    if (distance < DAY_S) return this.#relative.format(Math.trunc(seconds / HOUR_S), 'hour');
    const days = daysBetween(civilDateAt(now), civilDateAt(timestampDate(at)));
    // Only yesterday, today and tomorrow in words: Portuguese would have "depois de amanhã" for 2 days.
    return (Math.abs(days) < 2 ? this.#relative : this.#numericRelative).format(days, 'day');
  }
}

const formats = new Map<Language, Format>();

/** The shared formatter of a language. */
export function formatOf(language: Language): Format {
  let format = formats.get(language);
  if (!format) {
    format = new Format(language);
    formats.set(language, format);
  }
  return format;
}
