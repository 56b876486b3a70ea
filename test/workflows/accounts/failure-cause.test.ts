import { expect, it } from 'vitest';
import { AttemptFailure } from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { type AttemptFailureName, exhaustionReason } from '../../../services/webhooks/deliveries/delivery.ts';
import { failureCause } from '../../../workflows/accounts/failure-cause.ts';
import { texts } from '../../../workflows/accounts/notice.texts.ts';

const FAILURES = Object.keys(AttemptFailure).filter(
  (name) => /^[A-Z]/.test(name) && name !== 'UNSPECIFIED',
) as AttemptFailureName[];
const endedAt = new Date();

it('reads every reason that deliveries are given up for', () => {
  expect(failureCause(exhaustionReason(12, { endedAt, httpStatus: 503 }))).toEqual({
    kind: 'HTTP',
    status: 503,
  });
  expect(FAILURES.length).toBeGreaterThan(10);
  for (const failure of FAILURES) {
    const reason = exhaustionReason(12, { endedAt, failure });
    expect(failureCause(reason)).toEqual({ kind: 'FAILURE', name: failure });
  }
  const tooOld = 'a delivery was given up: it was still open 30 days after its event';
  expect(failureCause(tooOld)).toEqual({ kind: 'TOO_OLD' });
  expect(failureCause('something else')).toEqual({ kind: 'UNKNOWN' });
});

it.each(['pt-BR', 'en'] as const)('says each failure of an endpoint in words of its own (%s)', (language) => {
  // The others are failures of ours, of which a merchant need not know more than that there was one.
  const ofEndpoints = FAILURES.filter((name) => !['WORKER_LOST', 'PROXY'].includes(name));
  const said = ofEndpoints.map((name) => texts[language].reason({ kind: 'FAILURE', name }));
  expect(new Set([...said, texts[language].reason({ kind: 'UNKNOWN' })]).size).toBe(ofEndpoints.length + 1);
});
