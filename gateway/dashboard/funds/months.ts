import { addDays, type CivilDate, isCivilDate, weekday } from '../../../services/platform/civil-date.ts';

/** A month, YYYY-MM. */
export type YearMonth = string;

const MONTHS_PER_YEAR = 12;

/** A month of the years 1 to 9999 as it was typed, 2026-11 or 11/2026; undefined for anything else. */
export function parseMonth(text: string): YearMonth | undefined {
  const month = text.trim().replace(/^(\d{2})\/(\d{4})$/, '$2-$1');
  return isCivilDate(`${month}-01`) ? month : undefined;
}

export const monthOf = (date: CivilDate): YearMonth => date.slice(0, 7);

/** The month a number of months later, or earlier when negative; undefined outside the years 1 to 9999. */
export function monthShifted(month: YearMonth, months: number): YearMonth | undefined {
  const [year = 0, ordinal = 0] = month.split('-').map(Number);
  const count = year * MONTHS_PER_YEAR + ordinal - 1 + months;
  const [shiftedYear, shiftedOrdinal] = [Math.floor(count / MONTHS_PER_YEAR), (count % MONTHS_PER_YEAR) + 1];
  const shifted = `${String(shiftedYear).padStart(4, '0')}-${String(shiftedOrdinal).padStart(2, '0')}`;
  return isCivilDate(`${shifted}-01`) ? shifted : undefined;
}

/** Consecutive months, starting with the given one. */
export function monthsFrom(month: YearMonth, count: number): YearMonth[] {
  return Array.from({ length: count }, (_, n) => monthShifted(month, n)).filter((each) => each !== undefined);
}

/** The weeks of a month, Sunday to Saturday; undefined for days of other months. */
export function weeksOf(month: YearMonth): (CivilDate | undefined)[][] {
  const days: (CivilDate | undefined)[] = [];
  for (let date = `${month}-01`; monthOf(date) === month; date = addDays(date, 1)) days.push(date);
  days.unshift(...Array<undefined>(weekday(`${month}-01`)).fill(undefined));
  while (days.length % 7 !== 0) days.push(undefined);
  return Array.from({ length: days.length / 7 }, (_, week) => days.slice(week * 7, week * 7 + 7));
}

/** Whether a date is a Saturday or a Sunday. */
export function isWeekend(date: CivilDate): boolean {
  return weekday(date) % 6 === 0;
}
