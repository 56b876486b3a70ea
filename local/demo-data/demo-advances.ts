import { ConnectError } from '@connectrpc/connect';
import { errorInfoOf } from '../../services/platform/errors.ts';
import type { DemoTenant } from './demo-tenant.ts';

const REQUESTS = 64;
const FIRST_DAYS_AGO = 150;

/** How far a demo request gets. */
const FATES = [
  'PENDING_REVIEW',
  'SETTLED',
  'APPROVED',
  'RELEASED',
  'REFUSED',
  'REFUSED_AFTER_APPROVAL',
] as const;

/**
 * At least 60 requests over all states, oldest first. Those of long ago go through to their payout, so that their
 * covered parts can have passed; those still open are of the last days.
 */
export async function requestDemoAdvances(demo: DemoTenant): Promise<string[]> {
  const released: string[] = [];
  for (let n = 0; n < REQUESTS; n += 1) {
    const daysAgo = FIRST_DAYS_AGO * (1 - n / REQUESTS) + 0.5;
    const fate = fateOf(demo, n, daysAgo);
    const requestId = await request(demo, n, daysAgo);
    if (requestId === undefined) continue;
    if (await follow(demo, n, daysAgo, requestId, fate)) released.push(requestId);
  }
  return released;
}

/** Settles those whose last covered date has passed; the others stay RELEASED. */
export async function settleDemoAdvances(demo: DemoTenant, requestIds: readonly string[]): Promise<void> {
  for (const [n, advanceRequestId] of requestIds.entries()) {
    try {
      await demo.clients.advances.settleAdvance({ ...demo.write(`advance-settle-${n}`), advanceRequestId });
    } catch (error) {
      if (!isRefusal(error, 'ADVANCE_NOT_DUE')) throw error;
    }
  }
}

type Fate = (typeof FATES)[number];

function fateOf(demo: DemoTenant, n: number, daysAgo: number): Fate {
  const fate = demo.pick(FATES, n);
  const open = fate === 'PENDING_REVIEW' || fate === 'APPROVED';
  return open && daysAgo > 5 ? (n % 2 === 0 ? 'REFUSED' : 'SETTLED') : fate;
}

async function request(demo: DemoTenant, n: number, daysAgo: number): Promise<string | undefined> {
  const { advances } = demo.clients;
  try {
    const { quote } = await advances.quoteAdvance({
      ...demo.write(`advance-quote-${n}`),
      maxAmountMinor: BigInt(demo.between(60_000, 160_000)),
      occurredAt: demo.daysAgo(daysAgo),
    });
    const requested = await advances.requestAdvance({
      ...demo.write(`advance-request-${n}`),
      quoteId: quote!.id,
      occurredAt: demo.daysAgo(daysAgo - 0.001),
    });
    return requested.advanceRequest!.id;
  } catch (error) {
    if (isRefusal(error, 'NOTHING_TO_ADVANCE')) return undefined;
    throw error;
  }
}

/** Takes a request to its fate; answers whether it was released. */
async function follow(demo: DemoTenant, n: number, daysAgo: number, advanceRequestId: string, fate: Fate) {
  const { advances } = demo.clients;
  const at = (step: string, daysLater: number) => ({
    ...demo.write(`advance-${step}-${n}`),
    advanceRequestId,
    occurredAt: demo.daysAgo(daysAgo - daysLater),
  });
  if (fate === 'PENDING_REVIEW') return false;
  if (fate === 'REFUSED') {
    await advances.refuseAdvance({ ...at('refuse', 0.1), reason: 'Cadastro em análise' });
    return false;
  }
  await advances.approveAdvance({
    ...at('approve', 0.1),
    ...(n % 2 === 0 && { reason: 'Aprovado pela política' }),
  });
  if (fate === 'REFUSED_AFTER_APPROVAL') {
    await advances.refuseAdvance({ ...at('refuse', 0.2), reason: 'Desistência do lojista' });
    return false;
  }
  if (fate === 'APPROVED') return false;
  await advances.releaseAdvance(at('release', 0.2));
  return true;
}

const isRefusal = (error: unknown, reason: string) =>
  error instanceof ConnectError && errorInfoOf(error)?.reason === reason;
