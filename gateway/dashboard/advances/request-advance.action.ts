import { Type } from 'typebox';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { errorInfoOf } from '../../../services/platform/rpc/connect-errors.ts';
import type { FeatureDependencies } from '../shell/feature.ts';
import { ID, type Outcome } from '../shell/pages.ts';
import { advancesTexts } from './advances.texts.ts';

const form = Type.Object({
  quoteId: Type.String({ pattern: ID.source }),
  amount: Type.Optional(Type.String({ maxLength: 40 })),
  until: Type.Optional(Type.String({ maxLength: 40 })),
});

/** Requests the quoted advance. If the quote is no longer available, redirects to the form with its limits and the reason. */
export function requestAdvanceAction({ pages, clients }: FeatureDependencies): void {
  const options = { path: '/advances/request', role: Role.DEVELOPER, section: 'advances', form } as const;
  pages.action(options, async (view, { form: { quoteId, amount = '', until = '' }, key }) => {
    try {
      const { advanceRequest } = await clients.advances.requestAdvance(
        { ...view.tenant, idempotencyKey: key, quoteId },
        view.call,
      );
      return { redirect: `/advances/${advanceRequest!.id}`, notice: 'requested' };
    } catch (error) {
      return refusedOutcome(error, { amount, until });
    }
  });
}

function refusedOutcome(error: unknown, typed: Record<string, string>): Outcome {
  const { reason = '', metadata = {} } = errorInfoOf(error) ?? {};
  if (reason === 'QUOTE_ALREADY_REQUESTED' && metadata.advanceRequestId) {
    return { redirect: `/advances/${metadata.advanceRequestId}`, notice: 'already' };
  }
  if (!Object.hasOwn(advancesTexts.en.refused, reason)) throw error;
  return { redirect: `/advances/new?${new URLSearchParams({ ...typed, refused: reason })}` };
}
