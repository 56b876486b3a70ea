import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GrpcJsClient } from '../support/grpc-js-transport.ts';
import { startHarness, type TestHarness } from '../support/harness.ts';
import { SCENARIOS } from './rpc-scenarios.ts';

const TRANSPORTS = ['inProcess', 'grpc', 'grpcWeb', 'connect', 'grpcJs'] as const;

let harness: TestHarness;
let grpcJs: GrpcJsClient;
beforeAll(async () => {
  harness = await startHarness({ WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' });
  grpcJs = new GrpcJsClient(harness.baseUrl, harness.token);
});
afterAll(async () => {
  grpcJs?.[Symbol.dispose]();
  await harness?.close();
});

/** The harness with one transport for all calls. */
function over(name: (typeof TRANSPORTS)[number]): TestHarness {
  const transport = { ...harness.transports, grpcJs: grpcJs.transport }[name];
  return {
    ...harness,
    transports: { inProcess: transport, grpc: transport, grpcWeb: transport, connect: transport },
  };
}

describe.each(TRANSPORTS)('over %s', (name) => {
  test.each(Object.entries(SCENARIOS))('every RPC of %s succeeds', async (_area, play) => {
    await expect(play(over(name))).resolves.toBeUndefined();
  });
});
