import type { BankHoliday } from '../../../proto/gen/payments/funds/v1/funds_pb.js';
import { addDays, type CivilDate, weekday } from '../../platform/civil-date.ts';
import type { EnumName } from '../../platform/enum-name.ts';

export type BankHolidayName = EnumName<typeof BankHoliday>;

export interface DatedHoliday {
  readonly date: CivilDate;
  readonly name: BankHolidayName;
}

/**
 * Holidays with a fixed date, as MM-DD, and the first year in which they apply. Adding one does not move installments
 * that are already scheduled: they are released on the dates announced to merchants.
 */
const FIXED_HOLIDAYS: readonly { monthDay: string; name: BankHolidayName; since?: number }[] = [
  { monthDay: '01-01', name: 'NEW_YEAR' },
  { monthDay: '04-21', name: 'TIRADENTES' },
  { monthDay: '05-01', name: 'LABOUR_DAY' },
  { monthDay: '09-07', name: 'INDEPENDENCE' },
  { monthDay: '10-12', name: 'OUR_LADY_OF_APARECIDA' },
  { monthDay: '11-02', name: 'ALL_SOULS' },
  { monthDay: '11-15', name: 'REPUBLIC' },
  { monthDay: '11-20', name: 'BLACK_AWARENESS', since: 2024 }, // national by law 14.759/2023
  { monthDay: '12-25', name: 'CHRISTMAS' },
];

/** Holidays relative to Easter Sunday, in days. */
const MOVING_HOLIDAYS: readonly { days: number; name: BankHolidayName }[] = [
  { days: -48, name: 'CARNIVAL_MONDAY' },
  { days: -47, name: 'CARNIVAL_TUESDAY' },
  { days: -2, name: 'GOOD_FRIDAY' },
  { days: 60, name: 'CORPUS_CHRISTI' },
];

const closedDaysByYear = new Map<number, ReadonlySet<CivilDate>>();

/** The national holidays and bank closings of a year, also those on weekends, ascending. Two may share a date. */
export function bankHolidays(year: number): DatedHoliday[] {
  const easter = easterSunday(year);
  const fixed = FIXED_HOLIDAYS.filter(({ since = 0 }) => year >= since);
  const holidays = [
    ...fixed.map(({ monthDay, name }) => ({ date: `${pad(year, 4)}-${monthDay}`, name })),
    ...MOVING_HOLIDAYS.map(({ days, name }) => ({ date: addDays(easter, days), name })),
  ];
  return holidays.sort((one, other) => (one.date < other.date ? -1 : 1));
}

/** Whether banks are open on a date. */
export function isBusinessDay(date: CivilDate): boolean {
  const day = weekday(date);
  return day !== 0 && day !== 6 && !closedDaysOf(Number(date.slice(0, 4))).has(date);
}

/** The date itself if it is a business day, otherwise the next business day. */
export function businessDayFrom(date: CivilDate): CivilDate {
  let day = date;
  while (!isBusinessDay(day)) day = addDays(day, 1);
  return day;
}

function closedDaysOf(year: number): ReadonlySet<CivilDate> {
  let days = closedDaysByYear.get(year);
  if (days === undefined) {
    days = new Set(bankHolidays(year).map(({ date }) => date));
    closedDaysByYear.set(year, days);
  }
  return days;
}

/** Easter Sunday of the Gregorian calendar (Meeus, Jones and Butcher). */
function easterSunday(year: number): CivilDate {
  const a = year % 19;
  const b = Math.floor(year / 100);
  const c = year % 100;
  const d = Math.floor(b / 4);
  const e = b % 4;
  const f = Math.floor((b + 8) / 25);
  const g = Math.floor((b - f + 1) / 3);
  const h = (19 * a + b - d - g + 15) % 30;
  const i = Math.floor(c / 4);
  const k = c % 4;
  const l = (32 + 2 * e + 2 * i - h - k) % 7;
  const m = Math.floor((a + 11 * h + 22 * l) / 451);
  const n = h + l - 7 * m + 114;
  return `${pad(year, 4)}-${pad(Math.floor(n / 31), 2)}-${pad((n % 31) + 1, 2)}`;
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}
