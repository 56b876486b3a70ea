import { Type } from 'typebox';
import { Role } from '../../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { FeatureDependencies } from '../../shell/feature.ts';
import { withTroubleBanner } from '../../shell/trouble-banner.ts';
import { recentDeliveries } from '../deliveries/deliveries-table.ts';
import { MissedRange } from '../resends/resend-form.ts';
import { subscriptionPage } from './subscription.page.ts';
import { readSecrets, readSubscription, readSubscriptions } from './subscription-reads.ts';
import { testOutcome } from './test-event.ts';

const time = () => Type.Optional(Type.String({ format: 'date-time' }));
const QUERY = Type.Object({
  /** The id of the test event whose outcome to show. */
  test: Type.Optional(Type.String({ format: 'uuid' })),
  /** What a subscription missed that has just been reactivated, and from when to when. */
  missed: MissedRange,
  missed_from: time(),
  missed_to: time(),
});

/** The page of a subscription. */
export function subscriptionPages({ pages, clients, config }: FeatureDependencies): void {
  pages.page(
    { path: '/webhooks/:subscriptionId', role: Role.VIEWER, section: 'webhooks', query: QUERY },
    async (view, { params, query }) => {
      const subscriptionId = params.subscriptionId!;
      const { test, missed: range, missed_from: from, missed_to: to } = query;
      const subscription = await readSubscription(clients, view, subscriptionId);
      const [secrets, recent, outcome, all] = await Promise.all([
        subscription.deletedAt ? [] : readSecrets(clients, view, subscriptionId),
        recentDeliveries(view, clients, subscription),
        test === undefined ? undefined : testOutcome(clients, view, subscriptionId, test),
        readSubscriptions(clients, view),
      ]);
      const missed = range && from && to ? { range, from, to } : undefined;
      const page = subscriptionPage(view, { subscription, secrets, recent, outcome, missed, config });
      return withTroubleBanner(
        view,
        page,
        all.filter(({ id }) => id !== subscriptionId),
      );
    },
  );
}
