import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { formatOf } from '../../../../../gateway/dashboard/shell/format.ts';
import { LANGUAGES } from '../../../../../gateway/dashboard/shell/language.ts';
import { eventTypeTexts } from '../../../../../gateway/dashboard/webhooks/subscriptions/event-type.texts.ts';
import { errorText } from '../../../../../gateway/dashboard/webhooks/subscriptions/subscription-state.ts';
import {
  AttemptFailure,
  SubscriptionErrorCause,
  SubscriptionErrorSchema,
} from '../../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { EVENT_CATALOG } from '../../../../../services/webhooks/events/event-types/event-catalog.ts';

const FAILURES = Object.values(AttemptFailure).filter(
  (failure): failure is AttemptFailure =>
    typeof failure === 'number' && failure !== AttemptFailure.UNSPECIFIED,
);

const viewIn = (language: (typeof LANGUAGES)[number]) => ({
  language,
  format: formatOf(language),
  person: undefined,
  url: '/',
  support: undefined,
});

test.each(LANGUAGES)('every error of a subscription is a readable sentence in %s', (language) => {
  const { UNSPECIFIED, DELIVERY_EXHAUSTED, DELIVERY_EXPIRED, GONE } = SubscriptionErrorCause;
  const errors: MessageInitShape<typeof SubscriptionErrorSchema>[] = [
    { cause: DELIVERY_EXHAUSTED, attempts: 12, httpStatus: 500 },
    ...FAILURES.map((failure) => ({ cause: DELIVERY_EXHAUSTED, attempts: 12, failure })),
    { cause: DELIVERY_EXPIRED, retentionDays: 30 },
    { cause: GONE, httpStatus: 410 },
    { cause: UNSPECIFIED },
  ];
  const sentences = errors.map((error) =>
    errorText(viewIn(language), create(SubscriptionErrorSchema, error)),
  );
  expect(new Set(sentences).size).toBe(errors.length);
  for (const sentence of sentences) {
    expect(sentence).toMatch(/^\p{Lu}.*\.$/u);
    expect(sentence).not.toMatch(/[A-Z]+_[A-Z]+/);
  }
  expect(sentences[0]).toContain('HTTP 500');
  expect(sentences[0]).toContain('12');
});

test('every event type and its group have a name in both languages', () => {
  const groups = new Set(EVENT_CATALOG.map(({ name }) => name.split('.')[0]!));
  for (const group of groups) {
    for (const language of LANGUAGES) expect(eventTypeTexts[language].groups[group]).toBeTruthy();
  }
  expect(Object.keys(eventTypeTexts['pt-BR'].descriptions).sort()).toEqual(
    EVENT_CATALOG.map(({ name }) => name).sort(),
  );
});
