import { expect, vi } from 'vitest';
import type { EgressGuard } from '../../../../services/platform/egress/egress-guard.ts';
import type { EnvironmentGuards } from '../../../../services/platform/egress/environment-guards.ts';
import { createLogger } from '../../../../services/platform/process/telemetry.ts';
import { createServices } from '../../../../services/server.ts';
import type { TestHarness } from '../../../support/harness.ts';
import { sqlOf } from '../../../support/sql.ts';

/**
 * Makes the first attempts of all waiting deliveries, and those requested by retries, like a process that only owns webhook lanes.
 * @param guards check the connections; they stay open.
 */
export async function deliverWaiting(
  { config, databaseUrl }: Pick<TestHarness, 'config' | 'databaseUrl'>,
  { live, test }: EnvironmentGuards,
): Promise<void> {
  const services = await createServices({
    config: { ...config, SERVICES: ['webhook-lanes'] },
    databaseUrl,
    logger: createLogger('fatal'),
  });
  try {
    services.startWebhookLanes({ live: keptOpen(live), test: keptOpen(test) });
    const waiting = "select id from webhooks.open_delivery where status = 'PENDING' or requested";
    await vi.waitFor(async () => expect(await sqlOf({ databaseUrl }, waiting)).toEqual([]), {
      timeout: 60_000,
    });
  } finally {
    await services.close();
  }
}

/** The guard, for a user that closes it when it stops. */
const keptOpen = (guard: EgressGuard): EgressGuard =>
  Object.assign(Object.create(guard), { close: async () => undefined });
