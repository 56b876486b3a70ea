import { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { TemporalConnectionOptions } from '../../workflows/temporal/temporal-connection.ts';
import { RETENTION_SECONDS } from '../../workflows/temporal/temporal-namespace.ts';

const { UpdateNamespaceRequest } = proto.temporal.api.workflowservice.v1;

const CONNECT_TIMEOUT_MS = 3_000;
const CALL_TIMEOUT_MS = 5_000;
/** The worker does not use the proxies of http_proxy and https_proxy either, and none leads to this machine. */
const DIRECT = { 'grpc.enable_http_proxy': 0 };

/** Rejects unless a Temporal server serves the namespace over this connection. */
export async function assertNamespaceReachable(
  options: TemporalConnectionOptions,
  namespace: string,
): Promise<void> {
  await withConnection(options, ({ workflowService }) => workflowService.describeNamespace({ namespace }));
}

/**
 * Makes the namespace keep closed workflows for 7 days, in place of a dev server's one. Rejects as
 * assertNamespaceReachable does.
 */
export async function setRetention(address: string, namespace: string): Promise<void> {
  await withConnection({ address, tls: false }, async ({ workflowService }) => {
    const { config } = await workflowService.describeNamespace({ namespace });
    if (Number(config?.workflowExecutionRetentionTtl?.seconds) === RETENTION_SECONDS) return;
    const retention = UpdateNamespaceRequest.fromObject({
      namespace,
      config: { workflowExecutionRetentionTtl: { seconds: RETENTION_SECONDS } },
    });
    await workflowService.updateNamespace(retention);
  });
}

async function withConnection(
  options: TemporalConnectionOptions,
  work: (connection: Connection) => Promise<unknown>,
): Promise<void> {
  const connection = await Connection.connect({
    ...options,
    connectTimeout: CONNECT_TIMEOUT_MS,
    channelArgs: DIRECT,
  });
  try {
    await connection.withDeadline(Date.now() + CALL_TIMEOUT_MS, () => work(connection));
  } finally {
    await connection.close();
  }
}
