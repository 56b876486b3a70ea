import { addDays, type CivilDate, weekday } from '../platform/civil-date.ts';

/** Holidays of a fixed date, as MM-DD, with the first year they are kept. */
const FIXED_HOLIDAYS: readonly { monthDay: string; since?: number }[] = [
  { monthDay: '01-01' }, // New Year
  { monthDay: '04-21' }, // Tiradentes
  { monthDay: '05-01' }, // Labour Day
  { monthDay: '09-07' }, // Independence
  { monthDay: '10-12' }, // Our Lady of Aparecida
  { monthDay: '11-02' }, // All Souls
  { monthDay: '11-15' }, // Republic
  { monthDay: '11-20', since: 2024 }, // Black Awareness, national by law 14.759/2023
  { monthDay: '12-25' }, // Christmas
];

/** Days from Easter Sunday: Carnival Monday and Tuesday, Good Friday, Corpus Christi. */
const EASTER_OFFSETS: readonly number[] = [-48, -47, -2, 60];

const holidaysByYear = new Map<number, ReadonlySet<CivilDate>>();

/** The national holidays and bank closings of a year, weekends included. */
export function bankHolidays(year: number): ReadonlySet<CivilDate> {
  const known = holidaysByYear.get(year);
  if (known !== undefined) return known;
  const easter = easterSunday(year);
  const fixed = FIXED_HOLIDAYS.filter(({ since = 0 }) => year >= since);
  const holidays = new Set([
    ...fixed.map(({ monthDay }) => `${pad(year, 4)}-${monthDay}`),
    ...EASTER_OFFSETS.map((days) => addDays(easter, days)),
  ]);
  holidaysByYear.set(year, holidays);
  return holidays;
}

/** Whether banks settle on a date. */
export function isBusinessDay(date: CivilDate): boolean {
  const day = weekday(date);
  return day !== 0 && day !== 6 && !bankHolidays(Number(date.slice(0, 4))).has(date);
}

/** The date itself when it is a business day, else the first one after it. */
export function businessDayFrom(date: CivilDate): CivilDate {
  let day = date;
  while (!isBusinessDay(day)) day = addDays(day, 1);
  return day;
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
