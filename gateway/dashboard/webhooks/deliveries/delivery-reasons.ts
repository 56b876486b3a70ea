import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type Attempt,
  type Delivery,
  DeliveryStatus,
  type Resend,
  ResendState,
  type WebhookSubscription,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { type PlainView, textsFor } from '../../shell/view.ts';
import type { KnownStatus } from './delivery.components.ts';
import { deliveryTexts } from './delivery.texts.ts';

/** A delivery with everything that its page shows. */
export interface DeliveryDetails {
  readonly delivery: Delivery;
  /** Oldest first. */
  readonly attempts: readonly Attempt[];
  /** Undefined if it went to a listener on a developer's machine. */
  readonly subscription: WebhookSubscription | undefined;
  /** The body of every attempt; undefined once the event has been deleted. */
  readonly requestBody: string | undefined;
  /** When the remaining attempts are expected. */
  readonly expectedAttempts: readonly Timestamp[];
  /** The resend that created it; read for canceled deliveries only. */
  readonly resend: Resend | undefined;
}

export function statusReasonText(view: PlainView, details: DeliveryDetails): string {
  return textsFor(view, deliveryTexts).why[reasonOf(details)];
}

function reasonOf(details: DeliveryDetails): keyof (typeof deliveryTexts)['en']['why'] {
  const { delivery, attempts, subscription } = details;
  const status = delivery.status as KnownStatus;
  switch (status) {
    case DeliveryStatus.PENDING:
      return 'pending';
    case DeliveryStatus.RETRYING:
      return attempts.at(-1)?.endedAt ? retryReasonOf(delivery) : 'inProgress';
    case DeliveryStatus.HELD:
      return subscription?.pausedAt ? 'paused' : 'held';
    case DeliveryStatus.BLOCKED:
      return 'blocked';
    case DeliveryStatus.SUCCEEDED:
      return 'succeeded';
    case DeliveryStatus.EXHAUSTED:
      return attempts.length > 0 ? 'exhausted' : 'expired';
    case DeliveryStatus.CANCELED:
      return cancelReasonOf(details);
    default:
      return status satisfies never;
  }
}

/** A retry may be overdue: while Temporal is unavailable, nothing requests it. */
const retryReasonOf = ({ nextAttemptAt }: Delivery) =>
  nextAttemptAt && timestampMs(nextAttemptAt) <= Date.now() ? 'retryDue' : 'retrying';

/** The cause of a cancellation is not recorded, so it is inferred from the resend and the subscription. */
function cancelReasonOf({ delivery: { endedAt }, subscription, resend }: DeliveryDetails) {
  const disabledAt = subscription?.disabledAt;
  if (resend?.state === ResendState.CANCELED) return 'resendCanceled';
  if (disabledAt && endedAt && timestampMs(endedAt) >= timestampMs(disabledAt)) return 'disabled';
  return 'canceled';
}
