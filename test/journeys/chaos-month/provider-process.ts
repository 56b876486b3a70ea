// Run as a program, to be killed: the demo connector of `npm start` on a fixed port, which reports every outcome twice.
import { type Client, Code, ConnectError, createClient } from '@connectrpc/connect';
import {
  payoutProviderService,
  refundProviderService,
} from '../../../local/demo/connector/connector.services.ts';
import { ConnectorStore } from '../../../local/demo/connector/connector-store.ts';
import { OutcomeReporter } from '../../../local/demo/connector/outcome-reporter.ts';
import {
  PayoutProviderService,
  RefundProviderService,
} from '../../../proto/gen/payments/providers/v1/providers_pb.js';
import { RefundCaseService } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { runProcess } from '../../../services/platform/process/run-process.ts';
import { createLogger } from '../../../services/platform/process/telemetry.ts';
import { rpcInterceptors } from '../../../services/platform/rpc/interceptors.ts';
import { connectGrpc } from '../../../services/platform/rpc/remote-transport.ts';
import { createRpcServer } from '../../../services/platform/rpc/rpc-server.ts';
import { bindService } from '../../../services/platform/rpc/service-binding.ts';
import { failover } from './failover.ts';

type Refunds = Client<typeof RefundCaseService>;

/** Reports each outcome again under another key, as a provider does that is unsure of its first report. */
function withDuplicateReports(refunds: Refunds): Refunds {
  return {
    ...refunds,
    async recordProviderOutcome(request, options) {
      const response = await refunds.recordProviderOutcome(request, options);
      const again = { ...request, idempotencyKey: `${request.idempotencyKey}-again` };
      await refunds.recordProviderOutcome(again, options).catch((error: unknown) => {
        if (ConnectError.from(error).code !== Code.FailedPrecondition) throw error;
      });
      return response;
    },
  };
}

const { PROVIDER_PORT, PROVIDER_FILE, PROVIDER_TOKEN_SHA256, REPORT_TO, REPORT_TOKEN } = process.env;

await runProcess('the provider', async () => {
  const logger = createLogger('info');
  const store = new ConnectorStore(PROVIDER_FILE!);
  const server = createRpcServer({
    bindings: [
      bindService(RefundProviderService, refundProviderService(store)),
      bindService(PayoutProviderService, payoutProviderService(store)),
    ],
    interceptors: rpcInterceptors(logger),
    tokens: [{ name: 'worker', tokenSha256: PROVIDER_TOKEN_SHA256!, grants: ['providers:write'] }],
  });
  await server.listen({ host: '127.0.0.1', port: Number(PROVIDER_PORT) });
  const connections = REPORT_TO!.split(' ').map((url) => connectGrpc(url, REPORT_TOKEN!));
  const transport = failover(connections.map(({ transport }) => transport));
  const refunds = withDuplicateReports(createClient(RefundCaseService, transport));
  const reporter = new OutcomeReporter(store, refunds, logger);
  logger.info('the provider is listening');
  return {
    async close() {
      await reporter.stop();
      await server.close();
      for (const connection of connections) connection.close();
      store.close();
    },
  };
});
