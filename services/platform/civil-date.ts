import { DAY_MS, HOUR_MS } from './durations.ts';

/** A calendar date as YYYY-MM-DD; the strings sort chronologically. */
export type CivilDate = string;

/** The time zone of the account's dates. */
export const ACCOUNT_TIME_ZONE = 'America/Sao_Paulo';

const accountCalendar = new Intl.DateTimeFormat('en-US', {
  timeZone: ACCOUNT_TIME_ZONE,
  calendar: 'iso8601',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});

/** The date in the account's time zone at an instant. */
export function civilDateAt(instant: Date): CivilDate {
  const parts = new Map(accountCalendar.formatToParts(instant).map(({ type, value }) => [type, value]));
  return `${parts.get('year')?.padStart(4, '0')}-${parts.get('month')}-${parts.get('day')}`;
}

/** Adds a number of days, which may be negative. */
export function addDays(date: CivilDate, days: number): CivilDate {
  return toCivil(epochMs(date) + days * DAY_MS);
}

/** The number of days from `from` to `to`; negative when `to` is earlier. */
export function daysBetween(from: CivilDate, to: CivilDate): number {
  return (epochMs(to) - epochMs(from)) / DAY_MS;
}

/** 0 for Sunday to 6 for Saturday. */
export function weekday(date: CivilDate): number {
  return new Date(epochMs(date)).getUTCDay();
}

/** The first instant of a date in the account's zone. */
export function startOfDay(date: CivilDate): Date {
  let instant = epochMs(date);
  while (civilDateAt(new Date(instant)) < date) instant += HOUR_MS;
  return new Date(instant);
}

/** Whether a string is a valid calendar date; 2026-02-30 is not, nor is any date of year 0. */
export function isCivilDate(text: string): text is CivilDate {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false;
  const ms = epochMs(text);
  return !Number.isNaN(ms) && toCivil(ms) === text;
}

function epochMs(date: CivilDate): number {
  return Date.parse(`${date}T00:00:00Z`);
}

function toCivil(ms: number): CivilDate {
  return new Date(ms).toISOString().slice(0, 10);
}
