import { afterAll, describe, expect, test } from 'vitest';
import { GrpcJsClient } from '../support/grpc-js-transport.ts';
import { startHarness } from '../support/harness.ts';
import { overTransport } from './over-transport.ts';
import { SCENARIOS } from './rpc-scenarios.ts';

/** gRPC with the client of another library: the gateway and the journeys use Connect's. */
const TRANSPORTS = ['grpcWeb', 'connect', 'grpcJs'] as const;

const harness = await startHarness({ WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' });
const grpcJs = new GrpcJsClient(harness.baseUrl, harness.token);
afterAll(async () => {
  grpcJs[Symbol.dispose]();
  await harness.close();
});

describe.each(TRANSPORTS)('over %s', (name) => {
  test.each(Object.entries(SCENARIOS))('every RPC of %s succeeds', async (_area, play) => {
    const transport = { ...harness.transports, grpcJs: grpcJs.transport }[name];
    await expect(play(overTransport(harness, transport))).resolves.toBeUndefined();
  });
});
