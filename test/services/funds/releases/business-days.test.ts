import Holidays from 'date-holidays';
import { expect, test } from 'vitest';
import {
  type BankHolidayName,
  bankHolidays,
  businessDayFrom,
  isBusinessDay,
} from '../../../../services/funds/releases/business-days.ts';

const brazil = new Holidays('BR');
const years = range(1990, 2100).map((year) => ({ year, independent: brazil.getHolidays(year) }));

const NAMES: Readonly<Record<BankHolidayName, RegExp>> = {
  NEW_YEAR: /Ano Novo/,
  CARNIVAL_MONDAY: /Carnaval/,
  CARNIVAL_TUESDAY: /Carnaval/,
  GOOD_FRIDAY: /Sexta-Feira Santa/,
  TIRADENTES: /Tiradentes/,
  LABOUR_DAY: /Trabalho|trabalhador/,
  CORPUS_CHRISTI: /Corpo|Corpus/,
  INDEPENDENCE: /Independência/,
  OUR_LADY_OF_APARECIDA: /Aparecida/,
  ALL_SOULS: /Finados|Mortos/,
  REPUBLIC: /República/,
  BLACK_AWARENESS: /Consciência Negra/,
  CHRISTMAS: /Natal/,
};

test.each(years)('the holidays of $year match an independent table', ({ year, independent }) => {
  const expected = independent
    // Elections fall on Sundays; Black Awareness was no national holiday before 2024.
    .filter(({ type, name }) => (type === 'public' || type === 'bank') && name !== 'Dia de Eleição')
    .map(({ date }) => date.slice(0, 10))
    .filter((date) => !(year < 2024 && date.endsWith('-11-20')));
  expect([...new Set(bankHolidays(year).map(({ date }) => date))]).toEqual([...new Set(expected)].sort());
});

test.each(years)('the holidays of $year are named as in an independent table', ({ year, independent }) => {
  const named = bankHolidays(year).map(({ date, name }) => {
    const here = independent
      .filter((holiday) => holiday.date.startsWith(date))
      .map((holiday) => holiday.name);
    return [name, here.some((portuguese) => NAMES[name].test(portuguese))];
  });
  expect(named).toEqual(named.map(([name]) => [name, true]));
});

test('20 November is a business day until 2023 and a holiday from 2024', () => {
  expect(isBusinessDay('2023-11-20')).toBe(true);
  expect(isBusinessDay('2024-11-20')).toBe(false);
});

test('a business day stays, a weekend or holiday moves to the next business day', () => {
  expect(businessDayFrom('2026-11-19')).toBe('2026-11-19');
  expect(businessDayFrom('2026-11-20')).toBe('2026-11-23');
  // Saturday before Carnival: Sunday, Monday and Tuesday follow; Ash Wednesday is a banking day.
  expect(businessDayFrom('2026-02-14')).toBe('2026-02-18');
  expect(businessDayFrom('2027-12-31')).toBe('2027-12-31');
  expect(businessDayFrom('2028-01-01')).toBe('2028-01-03');
});

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
