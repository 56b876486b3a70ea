import { createHash, randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createClient } from '@connectrpc/connect';
import type { Logger } from 'pino';
import {
  PayoutProviderService,
  RefundProviderService,
} from '../../../proto/gen/payments/providers/v1/providers_pb.js';
import { RefundCaseService } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { rpcInterceptors } from '../../../services/platform/rpc/interceptors.ts';
import { connectGrpc } from '../../../services/platform/rpc/remote-transport.ts';
import { createRpcServer } from '../../../services/platform/rpc/rpc-server.ts';
import { bindService } from '../../../services/platform/rpc/service-binding.ts';
import { payoutProviderService, refundProviderService } from './connector.services.ts';
import { ConnectorStore } from './connector-store.ts';
import { OutcomeReporter } from './outcome-reporter.ts';

/** The caller as which the connector reports outcomes. */
export const CONNECTOR_CALLER = { name: 'demo-connector', grants: new Set(['refunds:write']) };

/** A provider of refunds and payouts for `npm start`. */
export interface DemoConnector {
  readonly url: string;
  /** The token that its callers send. */
  readonly token: string;
  /** Starts to report outcomes to the services at a URL, with the token of {@link CONNECTOR_CALLER}. */
  reportTo(grpcUrl: string, token: string): void;
  stop(): Promise<void>;
}

/** Starts a provider on loopback whose outcomes depend on the amount: see demo-outcomes.ts. Its state is in a file. */
export async function startDemoConnector(file: string, logger: Logger): Promise<DemoConnector> {
  const store = new ConnectorStore(file);
  const token = randomBytes(32).toString('base64url');
  const tokenSha256 = createHash('sha256').update(token).digest('hex');
  const server = createRpcServer({
    bindings: [
      bindService(RefundProviderService, refundProviderService(store)),
      bindService(PayoutProviderService, payoutProviderService(store)),
    ],
    interceptors: rpcInterceptors(logger),
    tokens: [{ name: 'worker', tokenSha256, grants: ['providers:write'] }],
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const stack = new AsyncDisposableStack();
  stack.defer(() => store.close());
  stack.defer(() => server.close());
  return {
    url: `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    token,
    reportTo(grpcUrl, callerToken) {
      const connection = connectGrpc(grpcUrl, callerToken);
      const reporter = new OutcomeReporter(
        store,
        createClient(RefundCaseService, connection.transport),
        logger,
      );
      stack.defer(() => connection.close());
      stack.defer(() => reporter.stop());
    },
    stop: () => stack.disposeAsync(),
  };
}
