import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { formatOf } from '../../../gateway/dashboard/shell/format.ts';

/** Saturday, 14:30 in Brazil. */
const NOW = new Date('2026-11-21T17:30:00Z');

it.each([
  ['2026-11-22T20:17:54Z', 'amanhã', 'tomorrow'],
  ['2026-11-23T02:59:59Z', 'amanhã', 'tomorrow'],
  ['2026-11-23T03:00:00Z', 'em 2 dias', 'in 2 days'],
  ['2026-11-23T14:59:26Z', 'em 2 dias', 'in 2 days'],
  ['2026-11-24T09:56:29Z', 'em 3 dias', 'in 3 days'],
  ['2026-11-22T17:29:00Z', 'em 23 horas', 'in 23 hours'],
  ['2026-11-21T17:45:00Z', 'em 15 minutos', 'in 15 minutes'],
  ['2026-11-20T12:00:00Z', 'ontem', 'yesterday'],
])('formats %s as %s, for English readers %s', (at, portuguese, english) => {
  const moment = timestampFromDate(new Date(at));
  expect(formatOf('pt-BR').relative(moment, NOW)).toBe(portuguese);
  expect(formatOf('en').relative(moment, NOW)).toBe(english);
});

it('writes dates so that the day cannot be confused with the month', () => {
  const at = timestampFromDate(new Date('2026-12-01T20:17:54Z'));
  expect(formatOf('pt-BR').dateTime(at)).toBe('01/12/2026, 17:17:54');
  expect(formatOf('en').dateTime(at).replaceAll('\u202f', ' ')).toBe('Dec 1, 2026, 5:17:54 PM');
});

it('abbreviates months so that the year cannot be taken for a day', () => {
  expect(formatOf('en').shortMonth('2026-11')).toBe('Nov 2026');
  expect(formatOf('pt-BR').shortMonth('2026-11')).toBe('nov. 2026');
});

it.each([
  [65_141n, 'R$ 651,41'],
  [99_999n, 'R$ 999,99'],
  [100_000n, 'R$ 1 mil'],
  [3_055_059n, 'R$ 30,6 mil'],
  [0n, 'R$ 0,00'],
])('abbreviates %d centavos to %s', (amountMinor, text) => {
  expect(formatOf('pt-BR').compactMoney(amountMinor).replaceAll('\u00a0', ' ')).toBe(text);
});
