import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import {
  AttemptFailure,
  SubscriptionErrorCause,
  SubscriptionErrorSchema,
} from '../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { texts } from '../../../workflows/accounts/notice.texts.ts';

const { DELIVERY_EXHAUSTED, DELIVERY_EXPIRED } = SubscriptionErrorCause;
/** The others are failures on our side, of which a merchant only needs to know that they happened. */
const ENDPOINT_FAILURES = Object.values(AttemptFailure).filter(
  (failure): failure is AttemptFailure =>
    typeof failure === 'number' &&
    ![AttemptFailure.UNSPECIFIED, AttemptFailure.WORKER_LOST, AttemptFailure.PROXY].includes(failure),
);

describe.each(['pt-BR', 'en'] as const)('the reason in a mail (%s)', (language) => {
  const { reason } = texts[language];
  const exhausted = (last: { httpStatus: number } | { failure: AttemptFailure }) =>
    reason(create(SubscriptionErrorSchema, { cause: DELIVERY_EXHAUSTED, attempts: 12, ...last }));

  it('has a sentence for each failure of an endpoint and for each cause', () => {
    expect(ENDPOINT_FAILURES.length).toBeGreaterThan(8);
    const sentences = [
      ...ENDPOINT_FAILURES.map((failure) => exhausted({ failure })),
      exhausted({ failure: AttemptFailure.WORKER_LOST }),
      exhausted({ httpStatus: 503 }),
      reason(create(SubscriptionErrorSchema, { cause: DELIVERY_EXPIRED, retentionDays: 30 })),
    ];
    expect(new Set(sentences).size).toBe(sentences.length);
    for (const sentence of sentences) expect(sentence).toMatch(/^\p{Lu}.*\.$/u);
  });

  it('names the HTTP status', () => {
    expect(exhausted({ httpStatus: 503 })).toContain('503');
  });

  it('has a sentence for an error without details', () => {
    expect(reason(undefined)).toBe(exhausted({ failure: AttemptFailure.PROXY }));
  });
});
