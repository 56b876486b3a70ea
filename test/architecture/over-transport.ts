import type { Transport } from '@connectrpc/connect';
import type { TestHarness } from '../support/harness.ts';

/** The harness with one transport for all calls. */
export function overTransport(harness: TestHarness, transport: Transport): TestHarness {
  return {
    ...harness,
    transports: { inProcess: transport, grpc: transport, grpcWeb: transport, connect: transport },
  };
}
