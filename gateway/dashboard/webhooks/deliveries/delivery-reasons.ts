import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type Attempt,
  type Delivery,
  DeliveryStatus,
  type Resend,
  ResendState,
  type WebhookSubscription,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { type PlainView, textsFor } from '../../shell/view.ts';
import { deliveryTexts } from './delivery.texts.ts';
import type { SeenStatus } from './delivery-words.ts';

/** What is known about a delivery. */
export interface SeenDelivery {
  readonly delivery: Delivery;
  /** First to last. */
  readonly attempts: readonly Attempt[];
  readonly subscription: WebhookSubscription;
  /** The resend that made it, if one did. */
  readonly resend: Resend | undefined;
}

/** Why a delivery is in the state it is in, in a sentence. */
export function reasonWords(view: PlainView, seen: SeenDelivery): string {
  return textsFor(view, deliveryTexts).why[reasonOf(seen)];
}

function reasonOf(seen: SeenDelivery): keyof (typeof deliveryTexts)['en']['why'] {
  const { delivery, attempts, subscription } = seen;
  const status = delivery.status as SeenStatus;
  switch (status) {
    case DeliveryStatus.PENDING:
      return 'pending';
    case DeliveryStatus.RETRYING:
      return attempts.at(-1)?.endedAt ? 'retrying' : 'underWay';
    case DeliveryStatus.HELD:
      return subscription.pausedAt ? 'paused' : 'held';
    case DeliveryStatus.BLOCKED:
      return 'blocked';
    case DeliveryStatus.SUCCEEDED:
      return 'succeeded';
    case DeliveryStatus.EXHAUSTED:
      return attempts.length > 0 ? 'exhausted' : 'expired';
    case DeliveryStatus.CANCELED:
      return cancelReasonOf(seen);
    default:
      return status satisfies never;
  }
}

/** Nobody writes down why, but each cause leaves its own traces. */
function cancelReasonOf({ delivery: { endedAt }, subscription: { disabledAt }, resend }: SeenDelivery) {
  if (resend?.state === ResendState.CANCELED) return 'resendCanceled';
  if (disabledAt && endedAt && timestampMs(endedAt) >= timestampMs(disabledAt)) return 'disabled';
  return 'canceled';
}
