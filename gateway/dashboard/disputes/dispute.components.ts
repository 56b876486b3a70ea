import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type Dispute,
  DisputeOutcome,
  DisputeReason,
} from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { badge, deadlineBadge, link, moment, money, NONE, type Tone } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { textsFor, type View } from '../shell/view.ts';
import { disputesTexts } from './disputes.texts.ts';

/** Where a dispute stands for the merchant. */
export type DisputeState = keyof (typeof disputesTexts)['en']['states'];

const TONES: Readonly<Record<DisputeState, Tone>> = {
  NEEDS_RESPONSE: 'busy',
  UNDER_REVIEW: 'busy',
  AWAITING_DECISION: 'busy',
  UNANSWERED: 'bad',
  WON: 'good',
  LOST: 'bad',
  REVERSED: 'good',
};

export function stateOf({ closedAt, outcome, response, dueAt }: Dispute): DisputeState {
  if (closedAt) return endOf(outcome);
  if (response) return response.submittedAt ? 'AWAITING_DECISION' : 'UNDER_REVIEW';
  return dueAt && timestampMs(dueAt) <= Date.now() ? 'UNANSWERED' : 'NEEDS_RESPONSE';
}

export function endOf(outcome: DisputeOutcome): 'WON' | 'LOST' | 'REVERSED' {
  if (outcome === DisputeOutcome.REVERSED) return 'REVERSED';
  return outcome === DisputeOutcome.LOST ? 'LOST' : 'WON';
}

export function stateBadge(view: View, dispute: Dispute): Html {
  const state = stateOf(dispute);
  return badge(TONES[state], textsFor(view, disputesTexts).states[state]);
}

/** The due date: the time left while the dispute awaits the merchant's response, afterwards only the date; NONE once it is closed. */
export function dueDate(view: View, dispute: Dispute): Html {
  const t = textsFor(view, disputesTexts);
  const { dueAt, closedAt } = dispute;
  if (closedAt) return html`${NONE}`;
  if (!dueAt) return html`<span class="soft">${t.noDueDate}</span>`;
  const isAwaiting = ['NEEDS_RESPONSE', 'UNANSWERED'].includes(stateOf(dispute));
  return html`<span class="deadline">${isAwaiting ? deadlineBadge(view, dueAt) : nothing} ${moment(view, dueAt)}</span>`;
}

export function disputedAmount(view: View, { amountMinor }: Dispute): Html {
  if (amountMinor === undefined) {
    return html`<span class="soft">${textsFor(view, disputesTexts).restOfSale}</span>`;
  }
  return money(view, amountMinor);
}

/** Why the customer disputes the payment. */
export function reasonText(view: View, { reason }: Dispute): string {
  const { reasons } = textsFor(view, disputesTexts);
  return reasons[DisputeReason[reason] as keyof typeof reasons] ?? reasons.GENERAL;
}

/** A link to a dispute from a page of other records. */
export function disputeLink(view: View, dispute: Dispute): Html {
  const title = textsFor(view, disputesTexts).disputeTitle(reasonText(view, dispute));
  return link(view, `/disputes/${dispute.id}`, title);
}
