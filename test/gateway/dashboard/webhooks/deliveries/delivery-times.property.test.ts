import { timestampDate, timestampFromDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { localTime, timeOf } from '../../../../../gateway/dashboard/webhooks/deliveries/delivery-times.ts';

const isoOf = (text: string) => {
  const at = timeOf(text);
  return at && timestampDate(at).toISOString();
};

describe('a local time of Brazil', () => {
  it('is converted with the UTC offset of its day', () => {
    expect(isoOf('2026-11-21T14:05')).toBe('2026-11-21T17:05:00.000Z');
    expect(isoOf('2026-11-21T14:05:07')).toBe('2026-11-21T17:05:07.000Z');
    // Clocks were an hour ahead in the summer of 2018.
    expect(isoOf('2018-12-21T14:05')).toBe('2018-12-21T16:05:00.000Z');
    expect(isoOf('2026-12-31T23:30')).toBe('2027-01-01T02:30:00.000Z');
  });

  it('can be given as RFC 3339', () => {
    expect(isoOf('2026-11-21T14:05:00Z')).toBe('2026-11-21T14:05:00.000Z');
    expect(isoOf('2026-11-21T14:05:00.5-03:00')).toBe('2026-11-21T17:05:00.500Z');
  });

  it.each([
    '',
    'now',
    '2026-11-21',
    '2026-02-30T10:00',
    '2026-11-21T25:00',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00',
    '2026-11-21T14:05-03:00',
    // Out of the range of timestamps, also in another time zone.
    '0000-01-01T00:00',
    '0001-01-01T00:00',
    '0001-01-01T00:00:00+14:00',
    '9999-12-31T23:59',
    '9999-12-31T23:59:59-14:00',
  ])('is not %s', (text) => {
    expect(timeOf(text)).toBeUndefined();
  });

  it('survives a round trip through a form control, except for the repeated hour when clocks go back', () => {
    const instants = fc.date({
      min: new Date('2000-01-01'),
      max: new Date('2100-01-01'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instants, (instant) => {
        const at = timestampFromDate(new Date(Math.floor(instant.getTime() / 1_000) * 1_000));
        const again = timeOf(localTime(at))!;
        expect(localTime(again)).toBe(localTime(at));
        const isTwice = localTime(timestampFromMs(timestampDate(at).getTime() - 3_600_000)) === localTime(at);
        const isTwiceLater =
          localTime(timestampFromMs(timestampDate(at).getTime() + 3_600_000)) === localTime(at);
        if (!isTwice && !isTwiceLater) expect(again).toEqual(at);
      }),
    );
  });
});
