import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { v7 as uuidv7 } from 'uuid';
import { expect, test } from 'vitest';
import { firstIdFrom, idTimeMs } from '../../../services/webhooks/id-time.ts';

const ms = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) });

test('a range of ids contains exactly what was created in its time', () => {
  fc.assert(
    fc.property(
      ms,
      fc.integer({ min: -2, max: 2 }),
      fc.integer({ min: 0, max: 999_999 }),
      (at, apart, nanos) => {
        const made = Math.max(at + apart, 0);
        const from = timestampFromMs(at);
        from.nanos += nanos;
        const isFrom = nanos === 0 ? made >= at : made > at;
        expect(uuidv7({ msecs: made }) >= firstIdFrom(from)).toBe(isFrom);
      },
    ),
  );
});

test('an id contains the time of its creation', () => {
  fc.assert(
    fc.property(ms, (made) => {
      expect(idTimeMs(uuidv7({ msecs: made }))).toBe(made);
    }),
  );
});

test('a time before 1970 has the smallest id', () => {
  expect(firstIdFrom(timestampFromMs(-1))).toBe('00000000-0000-7000-8000-000000000000');
});
