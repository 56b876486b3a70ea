import { expect, test } from 'vitest';
import {
  addDays,
  civilDateAt,
  daysBetween,
  isCivilDate,
  startOfDay,
  weekday,
} from '../../../services/platform/civil-date.ts';

test('an instant has the date in São Paulo', () => {
  expect(civilDateAt(new Date('2026-11-21T02:59:59.999Z'))).toBe('2026-11-20');
  expect(civilDateAt(new Date('2026-11-21T03:00:00.000Z'))).toBe('2026-11-21');
});

test('past daylight saving time is respected: in January 2019 midnight was at 02:00 UTC', () => {
  expect(civilDateAt(new Date('2019-01-15T02:30:00Z'))).toBe('2019-01-15');
  expect(civilDateAt(new Date('2020-01-15T02:30:00Z'))).toBe('2020-01-14');
});

test('days are counted across months and years', () => {
  expect(addDays('2024-02-28', 1)).toBe('2024-02-29');
  expect(addDays('2026-01-01', -1)).toBe('2025-12-31');
  expect(daysBetween('2026-02-01', '2026-03-03')).toBe(30);
  expect(daysBetween('2026-03-03', '2026-02-01')).toBe(-30);
  expect(weekday('2026-11-21')).toBe(6);
});

test.each([
  '2026-02-30',
  '2026-13-01',
  '2026-00-10',
  '2025-02-29',
  '0000-01-01',
  '2026-1-01',
  '',
  '2026-11-21T00:00',
])('%j is not a date', (text) => {
  expect(isCivilDate(text)).toBe(false);
});

test('29 February of a leap year is a date', () => {
  expect(isCivilDate('2028-02-29')).toBe(true);
});

test('a date starts at midnight in São Paulo, in winter and in past daylight saving time', () => {
  expect(startOfDay('2026-11-21').toISOString()).toBe('2026-11-21T03:00:00.000Z');
  expect(startOfDay('2019-01-15').toISOString()).toBe('2019-01-15T02:00:00.000Z');
  // Clocks went from 00:00 to 01:00: the date had no midnight.
  expect(startOfDay('2018-11-04').toISOString()).toBe('2018-11-04T03:00:00.000Z');
});
