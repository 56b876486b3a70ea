import { ConnectError } from '@connectrpc/connect';
import { errorInfoOf } from '../../../services/platform/rpc/connect-errors.ts';
import type { DemoTenant } from './demo-tenant.ts';

const FIRST_DAYS_AGO = 150;
const LAST_DAYS_AGO = 2;

/** The final state of a demo request; REFUSED_AFTER_APPROVAL ends as REFUSED. */
type Outcome = 'PENDING_REVIEW' | 'APPROVED' | 'RELEASED' | 'REFUSED' | 'REFUSED_AFTER_APPROVAL';
const PAST_OUTCOMES = ['RELEASED', 'REFUSED', 'RELEASED', 'REFUSED_AFTER_APPROVAL'] as const;
const OPEN_OUTCOMES = ['PENDING_REVIEW', 'APPROVED', 'RELEASED'] as const;
/** The bounds of what a request may advance, in centavos. */
const PAST_AMOUNTS = [180_000, 360_000] as const;
/** At least what the largest installment brings. All of them together stay far below what is left to advance on any day. */
const OPEN_AMOUNTS = [150_000, 180_000] as const;

/** A request of the last months. */
export interface PastAdvance {
  readonly n: number;
  readonly daysAgo: number;
}

/** The past requests to make, oldest first. */
export function planPastAdvances({ size }: DemoTenant): PastAdvance[] {
  return Array.from({ length: size.pastAdvances }, (_, n) => {
    const elapsed = ((FIRST_DAYS_AGO - LAST_DAYS_AGO) * n) / (size.pastAdvances - 1);
    return { n, daysAgo: Math.round(FIRST_DAYS_AGO - elapsed) };
  });
}

/** Makes a past request, which is refused or paid out. Returns its id if it is paid out. */
export async function requestPastAdvance(demo: DemoTenant, { n, daysAgo }: PastAdvance): Promise<string[]> {
  const outcome = demo.pick(PAST_OUTCOMES, n);
  const requestId = await requestAdvance(demo, n, outcome, daysAgo);
  return outcome === 'RELEASED' ? [requestId] : [];
}

/** Makes requests of today: pending review, approved, paid out. */
export async function requestOpenAdvances(demo: DemoTenant): Promise<void> {
  const { pastAdvances, openAdvances } = demo.size;
  for (let n = 0; n < openAdvances; n += 1) {
    await requestAdvance(demo, pastAdvances + n, demo.pick(OPEN_OUTCOMES, n), undefined);
  }
}

/** Settles the advances whose last covered date has passed; the others stay RELEASED. */
export async function settleDemoAdvances(demo: DemoTenant, requestIds: readonly string[]): Promise<void> {
  for (const [n, advanceRequestId] of requestIds.entries()) {
    const request = { ...demo.write(`advance-settle-${n}`), advanceRequestId };
    await demo.clients.advances.settleAdvance(request).catch((error: unknown) => {
      const due = !(error instanceof ConnectError && errorInfoOf(error)?.reason === 'ADVANCE_NOT_DUE');
      if (due) throw error;
    });
  }
}

/** Quotes, requests and reviews an advance up to its outcome, minutes apart. `daysAgo` undefined: now. */
async function requestAdvance(demo: DemoTenant, n: number, outcome: Outcome, daysAgo: number | undefined) {
  const { advances } = demo.clients;
  const [min, max] = daysAgo === undefined ? OPEN_AMOUNTS : PAST_AMOUNTS;
  const step = (name: string, minutes: number) => ({
    ...demo.write(`advance-${name}-${n}`),
    ...(daysAgo !== undefined && { occurredAt: demo.daysAgo(daysAgo - minutes / (24 * 60)) }),
  });
  const { quote } = await advances.quoteAdvance({
    ...step('quote', 0),
    maxAmountMinor: BigInt(demo.between(min, max)),
  });
  const { advanceRequest } = await advances.requestAdvance({ ...step('request', 5), quoteId: quote!.id });
  const advanceRequestId = advanceRequest!.id;
  if (outcome === 'PENDING_REVIEW') return advanceRequestId;
  if (outcome === 'REFUSED') {
    await advances.refuseAdvance({ ...step('refuse', 30), advanceRequestId, reason: 'Cadastro em análise' });
    return advanceRequestId;
  }
  const reason = n % 2 === 0 ? { reason: 'Aprovado pela política' } : {};
  await advances.approveAdvance({ ...step('approve', 30), advanceRequestId, ...reason });
  if (outcome === 'REFUSED_AFTER_APPROVAL') {
    const refusal = { ...step('refuse', 40), advanceRequestId, reason: 'Desistência do lojista' };
    await advances.refuseAdvance(refusal);
  }
  if (outcome === 'RELEASED') {
    await advances.releaseAdvance({ ...step('release', 45), advanceRequestId });
    // As the workflow would, which finds the payout accepted.
    const acceptance = { providerPayoutId: `po_${advanceRequestId.slice(0, 8)}` };
    const answer = { case: 'accepted', value: acceptance } as const;
    await advances.recordPayoutAnswer({ ...step('payout', 46), advanceRequestId, answer });
  }
  return advanceRequestId;
}
