import { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';

const { IndexedValueType } = proto.temporal.api.enums.v1;
const { RegisterNamespaceRequest, UpdateNamespaceRequest } = proto.temporal.api.workflowservice.v1;

/** What workflows are found by in the Temporal UI. */
export const SEARCH_ATTRIBUTES = {
  MerchantIds: 'KeywordList',
  SubscriptionIds: 'KeywordList',
  RequestIds: 'KeywordList',
  EventType: 'Keyword',
  Environment: 'Keyword',
} as const;

const INDEXED_TYPES = {
  Keyword: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  KeywordList: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
} as const;

const RETENTION_SECONDS = 7 * 24 * 60 * 60;
const CONNECT_TIMEOUT_MS = 3_000;
const CALL_TIMEOUT_MS = 5_000;
const GRPC_NOT_FOUND = 5;

/**
 * Brings a namespace to what the workflows need: it exists, with all search attributes. One made here keeps closed
 * workflows for 7 days; where the server is our own, so does one that was there. Rejects while the server does not
 * answer.
 */
export async function prepareNamespace(
  address: string,
  namespace: string,
  { isOwnServer }: { readonly isOwnServer: boolean },
): Promise<void> {
  await withConnection(address, async (connection) => {
    const retention = await readRetention(connection, namespace);
    if (retention === undefined) await register(connection, namespace);
    else if (isOwnServer && retention !== RETENTION_SECONDS) await setRetention(connection, namespace);
    await addSearchAttributes(connection, namespace);
  });
}

/** Rejects unless the server answers for the namespace. */
export async function assertAnswers(address: string, namespace: string): Promise<void> {
  await withConnection(address, ({ workflowService }) => workflowService.describeNamespace({ namespace }));
}

async function withConnection(
  address: string,
  work: (connection: Connection) => Promise<unknown>,
): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: CONNECT_TIMEOUT_MS });
  try {
    await connection.withDeadline(Date.now() + CALL_TIMEOUT_MS, () => work(connection));
  } finally {
    await connection.close();
  }
}

/** In seconds; undefined when there is no such namespace. */
async function readRetention(
  { workflowService }: Connection,
  namespace: string,
): Promise<number | undefined> {
  try {
    const { config } = await workflowService.describeNamespace({ namespace });
    return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
  } catch (error) {
    if ((error as { code?: number }).code === GRPC_NOT_FOUND) return undefined;
    throw error;
  }
}

async function register({ workflowService }: Connection, namespace: string): Promise<void> {
  const retention = RegisterNamespaceRequest.fromObject({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: RETENTION_SECONDS },
  });
  await workflowService.registerNamespace(retention);
}

async function setRetention({ workflowService }: Connection, namespace: string): Promise<void> {
  const retention = UpdateNamespaceRequest.fromObject({
    namespace,
    config: { workflowExecutionRetentionTtl: { seconds: RETENTION_SECONDS } },
  });
  await workflowService.updateNamespace(retention);
}

async function addSearchAttributes({ operatorService }: Connection, namespace: string): Promise<void> {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => customAttributes[name] === undefined);
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing.map(([name, type]) => [name, INDEXED_TYPES[type]]));
  await operatorService.addSearchAttributes({ namespace, searchAttributes });
}
