import { type Connection, isGrpcServiceError } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import { retrying } from '../retrying.ts';
import { SEARCH_ATTRIBUTES } from './search-attributes.ts';

const { IndexedValueType } = proto.temporal.api.enums.v1;
const INDEXED_AS = {
  KEYWORD: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
  KEYWORD_LIST: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
} as const;

const RETENTION_SECONDS = 7 * 24 * 60 * 60;
/** Longer than the server's services cache namespaces. */
const CACHE_EXPIRY_MS = 20_000;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;

type Services = Pick<NativeConnection | Connection, 'workflowService' | 'operatorService'>;

/**
 * Makes sure that the namespace exists and has all search attributes. A namespace created here keeps closed workflows
 * for 7 days. Throws the gRPC error of a server that does not permit this, such as Temporal Cloud, where operators
 * prepare the namespace.
 */
export async function prepareNamespace(connection: Services, namespace: string): Promise<void> {
  const { workflowService, operatorService } = connection;
  const found = await workflowService.describeNamespace({ namespace }).catch(unless(NOT_FOUND));
  if (!found) await register(connection, namespace);
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = SEARCH_ATTRIBUTES.filter(({ name }) => customAttributes[name] === undefined);
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing.map(({ name, type }) => [name, INDEXED_AS[type]]));
  await operatorService.addSearchAttributes({ namespace, searchAttributes }).catch(unless(ALREADY_EXISTS));
  await awaitSearchAttributes(connection, namespace);
}

/** The frontend learns of new search attributes with a delay, and rejects workflows that have them until then. */
async function awaitSearchAttributes({ workflowService }: Services, namespace: string) {
  const query = SEARCH_ATTRIBUTES.map(({ name }) => `${name} = 'none'`).join(' and ');
  await untilVisible(() => workflowService.countWorkflowExecutions({ namespace, query }));
}

/** The server caches for a second that the namespace did not exist, so calls fail until then. */
async function register({ workflowService, operatorService }: Services, namespace: string) {
  const request = proto.temporal.api.workflowservice.v1.RegisterNamespaceRequest.fromObject({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: RETENTION_SECONDS },
  });
  await workflowService.registerNamespace(request).catch(unless(ALREADY_EXISTS));
  await untilVisible(() => operatorService.listSearchAttributes({ namespace }));
}

const untilVisible = (call: () => Promise<unknown>) =>
  retrying(call, { forMs: CACHE_EXPIRY_MS, codeOf: () => undefined });

/** Turns errors with this gRPC code into undefined and rethrows the others. */
const unless = (code: number) => (error: unknown) => {
  if (isGrpcServiceError(error) && Number(error.code) === code) return undefined;
  throw error;
};
