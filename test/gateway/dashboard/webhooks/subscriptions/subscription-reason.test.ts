import { expect, test } from 'vitest';
import { formatOf } from '../../../../../gateway/dashboard/shell/format.ts';
import { LANGUAGES } from '../../../../../gateway/dashboard/shell/language.ts';
import { eventTypeTexts } from '../../../../../gateway/dashboard/webhooks/subscriptions/event-type.texts.ts';
import { reasonText } from '../../../../../gateway/dashboard/webhooks/subscriptions/subscription-state.ts';
import { AttemptFailure } from '../../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import {
  type AttemptFailureName,
  exhaustionReason,
} from '../../../../../services/webhooks/deliveries/delivery.ts';
import { EVENT_CATALOGUE } from '../../../../../services/webhooks/events/event-types/event-catalogue.ts';

const FAILURES = Object.keys(AttemptFailure).filter(
  (name) => /^[A-Z]/.test(name) && name !== 'UNSPECIFIED',
) as AttemptFailureName[];

const viewIn = (language: (typeof LANGUAGES)[number]) => ({
  language,
  format: formatOf(language),
  person: undefined,
  url: '/',
});

test.each(LANGUAGES)('every reason that the services give is a plain sentence in %s', (language) => {
  const say = (reason: string) => reasonText(viewIn(language), reason);
  const at = new Date();
  const reasons = [
    exhaustionReason(12, { endedAt: at, httpStatus: 500 } as Parameters<typeof exhaustionReason>[1]),
    ...FAILURES.map((failure) =>
      exhaustionReason(12, { endedAt: at, failure } as Parameters<typeof exhaustionReason>[1]),
    ),
    'a delivery was given up: it was still open 30 days after its event',
    'the endpoint answered HTTP 410',
  ];
  const said = reasons.map(say);
  expect(new Set(said).size).toBe(reasons.length);
  for (const [index, sentence] of said.entries()) {
    expect(sentence).not.toBe(reasons[index]);
    expect(sentence).toMatch(/^\p{Lu}.*\.$/u);
    expect(sentence).not.toMatch(/[A-Z]+_[A-Z]+/);
  }
  expect(say(reasons[0]!)).toContain('HTTP 500');
  expect(say(reasons[0]!)).toContain('12');
});

test('a reason that nobody foresaw is shown as it is', () => {
  expect(reasonText(viewIn('pt-BR'), 'something <new>')).toBe('something <new>');
});

test('every event type and its group have a name in both languages', () => {
  const groups = new Set(EVENT_CATALOGUE.map(({ name }) => name.split('.')[0]!));
  for (const group of groups) {
    for (const language of LANGUAGES) expect(eventTypeTexts[language].groups[group]).toBeTruthy();
  }
  expect(Object.keys(eventTypeTexts['pt-BR'].descriptions).sort()).toEqual(
    EVENT_CATALOGUE.map(({ name }) => name).sort(),
  );
});
