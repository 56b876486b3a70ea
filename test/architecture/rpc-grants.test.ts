import { afterAll, expect, test } from 'vitest';
import { startHarness } from '../support/harness.ts';
import { documentedGrants, grantProbe } from './grant-probe.ts';
import { overTransport } from './over-transport.ts';
import { SCENARIOS } from './rpc-scenarios.ts';

const documented = await documentedGrants();
const harness = await startHarness({ WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' });
afterAll(() => harness.close());

test.each(Object.entries(SCENARIOS))(
  'every RPC of %s succeeds in process with the documented grants, and is refused without one of them',
  async (_area, play) => {
    await expect(play(overTransport(harness, grantProbe(harness, documented)))).resolves.toBeUndefined();
  },
);
